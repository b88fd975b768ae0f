'use strict'

// All measurements, or some of them; `--help` lists the options. The samples go
// to bench/results as JSON, one file per case and version of Node; a run of some
// contenders only goes to a file of its own, which `npm run bench:report` does
// not read.

const fs = require('node:fs')
const path = require('node:path')
const { oneOf, positive, readArguments } = require('./lib/arguments')
const { loadCase, names } = require('./lib/cases')
const { contenders } = require('./lib/contenders')
const { createProgress } = require('./lib/progress')
const { runCase, variantNames } = require('./lib/run-case')
const { describeRuntime, findNode } = require('./lib/runtimes')
const { summarise } = require('./lib/summary')
const { formatNumber, formatTable } = require('./lib/table')

const help = `npm run bench -- [options]

  --case NAME           only this one; may be given more than once
  --contender NAME      only this one; may be given more than once
                        (${Object.keys(contenders).join(', ')})
  --rounds N            of each contender, instead of the case's own number
  --count N             operations a round, instead of the case's own number
  --node PATH|VERSION   another node for the clients
  --out DIR             where the samples go (bench/results)
  --smoke               one short round of each: does it run?
  --list                names the cases
`

const options = {
  case: { type: 'string', multiple: true },
  contender: { type: 'string', multiple: true },
  rounds: { type: 'string' },
  count: { type: 'string' },
  node: { type: 'string' },
  out: { type: 'string', default: path.join(__dirname, 'results') },
  smoke: { type: 'boolean', default: false },
  list: { type: 'boolean', default: false }
}

function readSettings () {
  const values = readArguments(options, help)
  for (const name of values.contender ?? []) {
    oneOf('contender', name, contenders)
  }
  for (const name of ['rounds', 'count']) {
    if (values[name] !== undefined) positive(name, values[name])
  }
  return values
}

function planOf (name, settings, node) {
  const benchmark = loadCase(name)
  const some = benchmark.contenders.filter((contender) =>
    settings.contender?.includes(contender) ?? true)
  return {
    case: name,
    contenders: some,
    partial: some.length < benchmark.contenders.length,
    rounds: Number(settings.rounds ??
      (settings.smoke ? 1 : benchmark.rounds ?? 5)),
    count: Number(settings.count ??
      (settings.smoke ? benchmark.smoke : benchmark.count)),
    node
  }
}

function printVariant (name, variant, { metrics, variants }) {
  const heads = Object.values(metrics).map(([what, unit]) => `${what}, ${unit}`)
  const rows = [['', ...heads.flatMap((head) => [head, '±'])]]
  for (const [contender, entry] of Object.entries(variants[variant])) {
    const cells = Object.keys(metrics).flatMap((metric) => {
      const values = entry.samples.map((sample) => sample[metric])
        .filter((value) => typeof value === 'number')
      if (values.length === 0) return ['-', '']
      const { median, spread } = summarise(values)
      return [formatNumber(median), `${spread.toFixed(0)} %`]
    })
    rows.push([contender, ...cells])
  }
  console.log(`\n${name}${variant === 'default' ? '' : `, ${variant}`}\n`)
  console.log(formatTable(rows))
  for (const [contender, { missing }] of Object.entries(variants[variant])) {
    if (missing) console.log(`${contender}: not measured: ${missing}`)
  }
}

function save (result, plan, { out, smoke }) {
  const major = result.runtime.version.split('.', 1)[0]
  const kind = smoke || plan.partial ? '.partial' : ''
  const file = path.join(out, `${plan.case}.node${major}${kind}.json`)
  fs.mkdirSync(out, { recursive: true })
  fs.writeFileSync(file, JSON.stringify(result, null, 1) + '\n')
  console.log(`\n${path.relative(process.cwd(), file)}`)
}

async function main () {
  const settings = readSettings()
  if (settings.list) {
    for (const name of names) console.log(`${name}: ${loadCase(name).title}`)
    return
  }
  const node = findNode(settings.node)
  const { version, openssl } = describeRuntime(node)
  console.log(`Node ${version}, OpenSSL ${openssl}`)
  const plans = (settings.case ?? names).map((name) =>
    planOf(name, settings, node)).filter((plan) => plan.contenders.length > 0)
  for (const plan of plans) {
    const variants = variantNames(loadCase(plan.case))
    const steps = variants.length * plan.contenders.length * plan.rounds
    const progress = createProgress(plan.case, steps)
    const result = await runCase(plan, ({ variant, contender }) =>
      progress.step(`${variant} ${contender}`))
    progress.stop()
    for (const variant of variants) printVariant(plan.case, variant, result)
    save(result, plan, settings)
  }
}

main().catch((error) => {
  console.error(error.message)
  process.exitCode = 2
})
