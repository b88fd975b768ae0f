'use strict'

/**
 * Runs a driver, as it comes from npm, in a process of its own:
 *
 *   node -r eager-tls/lib/register.js test/support/driver-child.js JOB
 *
 * EAGER_TLS_TEST_PACKAGE  directory of the package to use; default: this one
 */

const { spawn } = require('node:child_process')
const path = require('node:path')
const { pathToFileURL } = require('node:url')

const root = path.join(__dirname, '..', '..')
const installed = process.env.EAGER_TLS_TEST_PACKAGE ?? root
const register = path.join(installed, 'lib', 'register.js')

/** How the package gets into the process. */
const ways = {
  require: ['-r', register],
  import: ['--import', pathToFileURL(register).href],
  // Not at all: the driver is given the package's connect().
  hook: []
}

/**
 * @param {string} driver name of a file in test/servers/drivers
 * @param {object} job
 * @param {object} job.server host, port, user, password ...
 * @param {object} [job.tls] the TLS options for the driver
 * @param {'require'|'import'|'hook'} [job.way]
 * @param {number} [job.connections] how many, one after another
 * @param {number} [job.megabytes] to be sent there and back on the first one
 * @param {object[]} [job.refusals] { tls, host } that must not lead to a
 *   connection
 * @param {boolean} [job.collect] what was forgotten is collected at the end
 * @param {string} [job.extra] a further function of the driver's file
 * @returns {Promise<object>} the child's report, with `output`, `status` and
 *   `signal`
 */
function runDriver (driver, job) {
  const complete = {
    way: 'require',
    connections: 0,
    megabytes: 0,
    refusals: [],
    tls: {},
    ...job,
    package: installed,
    driver: path.join(__dirname, '..', 'servers', 'drivers', driver)
  }
  const child = spawn(process.execPath, [
    '--expose-gc', ...ways[complete.way], path.join(__dirname, 'driver-child.js'),
    JSON.stringify(complete)
  ], { stdio: ['ignore', 'pipe', 'pipe', 'pipe'] })
  const end = () => child.kill('SIGKILL')
  process.once('exit', end)
  let output = ''
  let json = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text) => { output += text })
  }
  child.stdio[3].setEncoding('utf8').on('data', (text) => { json += text })
  return new Promise((resolve, reject) => {
    child.on('error', reject)
    child.on('close', (status, signal) => {
      process.removeListener('exit', end)
      if (json === '') {
        reject(new Error(`${driver}: ended with ${signal ?? status}: ${output}`))
      } else {
        resolve({ ...JSON.parse(json), output, status, signal })
      }
    })
  })
}

module.exports = { runDriver }
