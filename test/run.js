'use strict'

// What `npm test` does:
//
//   node test/run.js [core] [unit] [compat] [servers] [--grep=TEXT]
//
// Installs the Debian packages that are missing (as root), builds the addon,
// runs the suites named (all, if none is) and ends with one line of counts
// summed over all runners.

const { parseArgs } = require('node:util')
const { exec } = require('./runner/exec')
const { suites } = require('./runner/suites')

/** Prints `N passed, N failed[, N skipped]`, always the last line. */
function printTotal ({ passed, failed, skipped }) {
  const more = skipped > 0 ? `, ${skipped} skipped` : ''
  console.log(`${passed} passed, ${failed} failed${more}`)
}

function add (total, counts) {
  for (const key of Object.keys(total)) total[key] += counts[key]
}

async function prepare (names) {
  const deps = await exec(['bash', 'scripts/ensure-deps.sh', 'build', ...names])
  if (!deps.ok) return deps
  if (names.every((name) => name === 'core')) return deps
  return exec([process.execPath, 'scripts/build.js'])
}

async function main () {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { grep: { type: 'string' } }
  })
  const unknown = positionals.filter((name) => !Object.hasOwn(suites, name))
  if (unknown.length > 0) {
    throw new Error(`no such suite: ${unknown.join(', ')}; ` +
      `there are ${Object.keys(suites).join(', ')}`)
  }
  const names = positionals.length > 0 ? positionals : Object.keys(suites)
  const args = values.grep === undefined ? [] : ['--grep', values.grep]

  const total = { passed: 0, failed: 0, skipped: 0 }
  const prepared = await prepare(names)
  if (!prepared.ok) {
    console.log(`\nnot run: ${prepared.why}`)
    total.failed = 1
    return total
  }
  const broken = []
  for (const { name, run } of names.flatMap((name) => suites[name])) {
    console.log(`\n---- ${name}\n`)
    const counts = await run({ args })
    add(total, counts)
    if (counts.why) broken.push(`${name}: ${counts.why}`)
  }
  console.log()
  for (const line of broken) console.log(line)
  return total
}

main().then((total) => {
  printTotal(total)
  process.exitCode = total.failed > 0 ? 1 : 0
}, (error) => {
  console.error(error.message)
  process.exitCode = 2
})
