'use strict'

// What `npm test` does:
//
//   node test/run.js [core] [unit] [compat] [package] [servers] [bench]
//       [extended] [--grep=TEXT]
//
// Installs the Debian packages that are missing (as root), builds the addon,
// runs the suites named (all but `extended`, if none is) and ends with one line
// of counts summed over all runners.

const { parseArgs } = require('node:util')
const { format, sum } = require('./runner/counts')
const { exec } = require('./runner/exec')
const { suites } = require('./runner/suites')

async function prepare (names) {
  const deps = await exec(['bash', 'scripts/ensure-deps.sh', 'build', ...names])
  if (!deps.ok) return deps
  const needs = { extended: 'test/servers', package: 'test/package/tools' }
  for (const [name, dir] of Object.entries(needs)) {
    if (!names.includes(name)) continue
    const modules = await exec(['npm', 'ci', '--ignore-scripts', '--prefix', dir])
    if (!modules.ok) return modules
  }
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
  const names = positionals.length > 0
    ? positionals
    : Object.keys(suites).filter((name) => name !== 'extended')
  const args = values.grep === undefined ? [] : ['--grep', values.grep]

  const prepared = await prepare(names)
  if (!prepared.ok) {
    console.log(`\nnot run: ${prepared.why}`)
    return { passed: 0, failed: 1, skipped: 0 }
  }
  const results = []
  for (const { name, run } of names.flatMap((name) => suites[name])) {
    console.log(`\n---- ${name}\n`)
    results.push({ name, ...await run({ args }) })
  }
  console.log()
  for (const result of results) {
    const why = result.why ? ` (${result.why})` : ''
    console.log(`${result.name}: ${format(result)}${why}`)
  }
  return sum(results)
}

main().then((total) => {
  console.log(format(total))
  process.exitCode = total.failed > 0 ? 1 : 0
}, (error) => {
  console.error(error.message)
  process.exitCode = 2
})
