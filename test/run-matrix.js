'use strict'

// Runs the mocha suites on several versions of node, on every transport, with
// the one addon that was built with the node at hand:
//
//   node test/run-matrix.js [unit] [compat] [--node=20,22,24,26]

const { parseArgs } = require('node:util')
const { format, sum } = require('./runner/counts')
const { exec } = require('./runner/exec')
const { perTransport } = require('./runner/suites')

const columns = ['node', 'suite', 'passed', 'failed', 'skipped', '']

function printTable (rows) {
  const widths = columns.map((name) =>
    Math.max(...[{ [name]: name }, ...rows].map((row) => String(row[name]).length)))
  const line = (row) => columns
    .map((name, i) => typeof row[name] === 'number'
      ? String(row[name]).padStart(widths[i])
      : String(row[name]).padEnd(widths[i]))
    .join('  ').trimEnd()
  console.log(line(Object.fromEntries(columns.map((name) => [name, name]))))
  for (const row of rows) console.log(line(row))
}

async function main () {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { node: { type: 'string', default: '20,22,24,26' } }
  })
  const names = positionals.length > 0 ? positionals : ['unit', 'compat']
  const versions = values.node.split(',')

  const built = await exec([process.execPath, 'scripts/build.js'], { quiet: true })
  if (!built.ok) throw new Error(`not built: ${built.output}`)
  const got = await exec(['bash', 'scripts/get-runtimes.sh',
    ...versions.map((version) => `node-${version}`)], { quiet: true })
  if (!got.ok) throw new Error(`no runtimes: ${got.output}`)
  const binaries = got.output.match(/^\/.*$/gm)

  const rows = []
  for (const node of binaries) {
    const { output } = await exec([node, '--version'], { quiet: true })
    for (const { name, run } of names.flatMap(perTransport)) {
      const { why = '', ...counts } = await run({ node, quiet: true })
      rows.push({ node: output.trim(), suite: name, ...counts, '': why })
      console.log(`${output.trim()}  ${name}: ${format(counts)}`)
    }
  }

  console.log()
  printTable(rows)
  const total = sum(rows)
  console.log(`\n${format(total)}`)
  process.exitCode = total.failed > 0 ? 1 : 0
}

main().catch((error) => {
  console.error(error.message)
  process.exitCode = 2
})
