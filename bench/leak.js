'use strict'

// Does a process that upgrades sockets to TLS keep growing?
//
//   npm run bench:leak -- [options]
//
// `--help` lists them. Without any: 5,000 cycles of connect, upgrade, ping and
// close against a server of its own, for node:tls and for this package, each in
// a process of its own.

const fs = require('node:fs')
const path = require('node:path')
const { allocatorEnv } = require('./lib/allocators')
const { oneOf, positive, readArguments } = require('./lib/arguments')
const { drivers } = require('./lib/drivers')
const { ensureInstalled } = require('./lib/install')
const leak = require('./lib/leak-contenders')
const { printLeak, writeLeak } = require('./lib/leak-report')
const { judge, runContender } = require('./lib/leak-run')
const { openTarget } = require('./lib/leak-target')
const { preludes } = require('./lib/client-preludes')
const { describeMachine, describeSources } = require('./lib/machine')
const { createProgress } = require('./lib/progress')
const { describeRuntime, findNode } = require('./lib/runtimes')

const help = `npm run bench:leak -- [options]

  --cycles N            upgrades per contender (5000)
  --interval N          cycles from sample to sample (a hundredth of them)
  --contender NAME      only this one; may be given more than once
                        (${Object.keys(leak.contenders).join(', ')};
                        with --driver: ${Object.keys(leak.throughDriver).join(', ')})
  --server HOST:PORT    your server instead of one of its own
  --starttls PROTOCOL   what is said before TLS: ${Object.keys(preludes).join(', ')}
  --ca FILE             the authority of your server, PEM
  --servername NAME     the name in its certificate, if not HOST
  --insecure            do not verify its certificate
  --driver NAME         through a driver: ${Object.keys(drivers).join(', ')};
                        without --server, on a server from Debian's packages
  --user, --password, --database   for the driver
  --allocator NAME      glibc (default) or jemalloc
  --arenas N            MALLOC_ARENA_MAX of glibc
  --warm-up PART        of the cycles that the slope leaves out (0.2)
  --node PATH|VERSION   another node
  --out DIR             where report.html and the SVG go (bench/reports/leak)
  --save                keep the samples in bench/results too
`

const options = {
  cycles: { type: 'string', default: '5000' },
  interval: { type: 'string' },
  contender: { type: 'string', multiple: true },
  server: { type: 'string' },
  starttls: { type: 'string', default: 'none' },
  ca: { type: 'string' },
  servername: { type: 'string' },
  insecure: { type: 'boolean', default: false },
  driver: { type: 'string' },
  user: { type: 'string' },
  password: { type: 'string' },
  database: { type: 'string' },
  allocator: { type: 'string', default: 'glibc' },
  arenas: { type: 'string' },
  'warm-up': { type: 'string', default: '0.2' },
  node: { type: 'string' },
  out: { type: 'string', default: path.join(__dirname, 'reports', 'leak') },
  save: { type: 'boolean', default: false }
}

function readSettings () {
  const values = readArguments(options, help)
  if (values.driver !== undefined) oneOf('driver', values.driver, drivers)
  oneOf('starttls', values.starttls, preludes)
  values.table = values.driver === undefined ? leak.contenders : leak.throughDriver
  values.contender ??= Object.keys(values.table)
  for (const name of values.contender) oneOf('contender', name, values.table)
  values.cycles = positive('cycles', values.cycles)
  values.interval = values.interval === undefined
    ? Math.max(1, Math.round(values.cycles / 100))
    : positive('interval', values.interval)
  values.warmUp = Number(values['warm-up'])
  if (!(values.warmUp >= 0 && values.warmUp < 1)) {
    throw new Error(`--warm-up takes a part of one: ${values['warm-up']}`)
  }
  return values
}

/** The drawing libraries, or the reason why there will be no charts. */
function canDraw () {
  try {
    ensureInstalled()
    return true
  } catch (error) {
    console.error(`no charts: ${error.message}`)
    return false
  }
}

async function measure (values, place, env) {
  const contenders = {}
  const progress = createProgress('leak', values.cycles * values.contender.length)
  try {
    for (const contender of values.contender) {
      const samples = await runContender({
        contender,
        cycles: values.cycles,
        interval: values.interval,
        node: findNode(values.node),
        env,
        settings: {
          target: place.target,
          starttls: values.starttls,
          driver: values.driver,
          echo: place.echo
        }
      }, (done) => progress.step(contender, done))
      const plain = contenders.plain?.verdict.fit ?? null
      contenders[contender] = {
        about: values.table[contender].about,
        samples,
        verdict: judge(samples, { warmUp: values.warmUp, plain })
      }
    }
  } finally {
    progress.stop()
  }
  return contenders
}

function save (result) {
  const major = result.runtime.version.split('.', 1)[0]
  const kind = [result.driver, result.allocator === 'glibc' ? null : result.allocator]
    .filter(Boolean).map((part) => `-${part}`).join('')
  const file = path.join(__dirname, 'results', `leak${kind}.node${major}.json`)
  fs.mkdirSync(path.dirname(file), { recursive: true })
  fs.writeFileSync(file, JSON.stringify(result) + '\n')
  return file
}

async function main () {
  const values = readSettings()
  const chart = canDraw()
  const env = allocatorEnv(values.allocator, values.arenas)
  const place = await openTarget(values)
  console.log(`${values.cycles} cycles each with ${place.about}, STARTTLS ` +
    `${values.starttls}, allocator ${values.allocator}`)
  const result = {
    case: 'leak',
    date: new Date().toISOString(),
    ...describeSources(),
    machine: describeMachine(),
    runtime: describeRuntime(findNode(values.node)),
    about: place.about,
    cycles: values.cycles,
    warmUp: values.warmUp,
    starttls: values.starttls,
    driver: values.driver,
    allocator: values.allocator,
    arenas: values.arenas ?? process.env.MALLOC_ARENA_MAX
  }
  try {
    result.contenders = await measure(values, place, env)
  } finally {
    await place.stop()
  }
  printLeak(result, { chart })
  if (chart) {
    await writeLeak(result, values.out)
    console.log(`\n${path.relative(process.cwd(), path.join(values.out, 'report.html'))}`)
  }
  if (values.save) console.log(path.relative(process.cwd(), save(result)))
}

main().catch((error) => {
  console.error(error.message)
  process.exitCode = 2
})
