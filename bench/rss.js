'use strict'

// Does memory grow with upgrades more than with plain TCP connections? Prints,
// for each contender, the RSS after 10,000 of them above that of the same script
// without TLS.
//
//   npm run bench:rss -- [--count N] [--rounds N] [--node PATH|VERSION]
//
// The same as `npm run bench -- --case rss`, and the difference.

const { positive, readArguments } = require('./lib/arguments')
const { loadCase } = require('./lib/cases')
const { createProgress } = require('./lib/progress')
const { runCase } = require('./lib/run-case')
const { findNode } = require('./lib/runtimes')
const { summarise } = require('./lib/summary')
const { formatNumber, formatTable } = require('./lib/table')

const benchmark = loadCase('rss')

const help = `npm run bench:rss -- [options]

  --count N             connections of each process (${benchmark.count})
  --rounds N            processes of each contender (${benchmark.rounds})
  --node PATH|VERSION   another node
`

function median (entry, metric) {
  const values = entry.samples.map((sample) => sample[metric])
  return values.length === 0 ? NaN : summarise(values).median
}

async function main () {
  const values = readArguments({
    count: { type: 'string', default: String(benchmark.count) },
    rounds: { type: 'string', default: String(benchmark.rounds) },
    node: { type: 'string' }
  }, help)
  const { contenders, variants } = benchmark
  const rounds = positive('rounds', values.rounds)
  const steps = Object.keys(variants).length * contenders.length * rounds
  const progress = createProgress('rss', steps)
  const result = await runCase({
    case: 'rss',
    contenders,
    rounds,
    count: positive('count', values.count),
    node: findNode(values.node)
  }, ({ variant, contender }) => progress.step(`${variant} ${contender}`))
  progress.stop()

  for (const [variant, entries] of Object.entries(result.variants)) {
    const rows = [[
      variant, 'RSS, MB', 'above plain TCP', 'growth, MB', 'above plain TCP'
    ]]
    for (const [name, entry] of Object.entries(entries)) {
      const yardstick = name.startsWith('eager')
        ? entries['plain-loaded']
        : entries.plain
      rows.push([name, ...['rss', 'growth'].flatMap((metric) => [
        formatNumber(median(entry, metric)),
        formatNumber(median(entry, metric) - median(yardstick, metric))
      ])])
    }
    console.log(`\n${formatTable(rows)}`)
  }
}

main().catch((error) => {
  console.error(error.message)
  process.exitCode = 2
})
