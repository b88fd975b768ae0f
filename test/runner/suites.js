'use strict'

const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const { zero } = require('./counts')
const { exec, root } = require('./exec')

const mocha = path.join(root, 'node_modules', 'mocha', 'bin', 'mocha.js')

/** The test files of a suite; a suite without any is not a success. */
function testFiles (suite) {
  const dir = path.join('test', suite)
  return fs.readdirSync(path.join(root, dir), { recursive: true })
    .filter((name) => /\.test\.m?js$/.test(name) &&
      !name.includes('node_modules') && !name.includes('fixtures'))
    .map((name) => path.join(dir, name))
    .sort()
}

/**
 * A runner that broke (died, hung, printed no counts) is one failure more than
 * it counted itself.
 */
function settle (counts, { ok, why }) {
  if (!ok && counts.failed === 0) return { ...counts, failed: 1, why }
  if (counts.passed + counts.failed === 0) {
    return { ...counts, failed: 1, why: 'ran no test' }
  }
  return counts
}

async function runCore () {
  const jobs = `-j${os.availableParallelism()}`
  const built = await exec(['make', '-C', 'test/core', jobs, 'all'])
  if (!built.ok) return settle(zero, built)
  const result = await exec(['make', '-C', 'test/core', 'check'])
  const line = /^core: (\d+) passed, (\d+) failed, (\d+) skipped$/m
    .exec(result.output)
  if (line === null) return settle(zero, { ok: false, why: 'no result line' })
  const [passed, failed, skipped] = line.slice(1).map(Number)
  return settle({ passed, failed, skipped }, result)
}

/**
 * Runs one mocha suite in one process.
 *
 * @param {string} suite directory below test/
 * @param {object} [options]
 * @param {object} [options.env]
 * @param {string[]} [options.args] further arguments of mocha
 * @param {string} [options.node] the node binary to use
 * @param {number} [options.limit] milliseconds
 * @param {boolean} [options.quiet] shows the output only of a run that failed
 */
async function runMocha (suite, { env = {}, args = [], node, quiet, limit } = {}) {
  const files = testFiles(suite)
  if (files.length === 0) return settle(zero, { ok: true })
  const dir = fs.mkdtempSync(path.join(os.tmpdir(), 'eager-tls-test-'))
  const summary = path.join(dir, 'summary.json')
  const result = await exec([
    node ?? process.execPath, mocha,
    '--reporter', 'test/support/reporter.js', ...args, ...files
  ], { env: { ...env, EAGER_TLS_TEST_SUMMARY: summary }, quiet, limit })
  if (quiet && !result.ok) process.stdout.write(result.output)
  let counts = zero
  if (fs.existsSync(summary)) {
    counts = JSON.parse(fs.readFileSync(summary, 'utf8'))
  }
  fs.rmSync(dir, { recursive: true })
  return settle(counts, result)
}

const transports = ['stream', 'fd']

/** The same suite once per transport. */
function perTransport (suite) {
  return transports.map((transport) => ({
    name: `${suite}, ${transport} transport`,
    run: (options) => runMocha(suite, {
      ...options,
      env: { ...options.env, EAGER_TLS_TEST_TRANSPORT: transport }
    })
  }))
}

/** A suite on the package's fallback; node:tls itself has been the subject. */
function onFallback (suite) {
  return {
    name: `${suite}, node backend`,
    run: (options) => runMocha(suite, {
      ...options,
      env: {
        ...options.env,
        EAGER_TLS_BACKEND: 'node',
        EAGER_TLS_TEST_SUBJECT: 'eager'
      }
    })
  }
}

/**
 * What `npm test` runs, by the names that it takes as arguments; `extended`
 * only if it is named.
 */
const suites = {
  core: [{ name: 'core', run: runCore }],
  unit: perTransport('unit'),
  compat: perTransport('compat'),
  fallback: [onFallback('unit'), onFallback('compat')],
  package: [{
    name: 'package',
    // Most of it is npm at work.
    run: (options) => runMocha('package', { ...options, limit: 900_000 })
  }],
  servers: [{
    name: 'servers',
    run: (options) => runMocha('servers/core', options)
  }],
  bench: [{ name: 'bench', run: (options) => runMocha('bench', options) }],
  extended: [{
    name: 'servers, extended',
    run: (options) => runMocha('servers/extended', options)
  }]
}

module.exports = { perTransport, runMocha, suites }
