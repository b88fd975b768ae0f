'use strict'

const { spawn } = require('node:child_process')

/**
 * Runs a command to its end.
 *
 * @param {string[]} command
 * @param {object} options of spawn
 * @returns {Promise<{ status: number, signal: string, stdout: string,
 *   stderr: string }>}
 */
function run ([file, ...args], options = {}) {
  const child = spawn(file, args,
    { stdio: ['ignore', 'pipe', 'pipe'], ...options })
  const end = () => child.kill('SIGKILL')
  process.once('exit', end)
  const result = { stdout: '', stderr: '' }
  for (const name of ['stdout', 'stderr']) {
    child[name].setEncoding('utf8').on('data', (text) => { result[name] += text })
  }
  return new Promise((resolve, reject) => {
    child.on('error', reject)
    child.on('close', (status, signal) => {
      process.removeListener('exit', end)
      resolve({ ...result, status, signal })
    })
  })
}

/** The same for a command that has to succeed. */
async function mustRun (command, options) {
  const result = await run(command, options)
  if (result.status !== 0) {
    throw new Error(`${command.join(' ')}: ended with ` +
      `${result.signal ?? result.status}\n${result.stdout}${result.stderr}`)
  }
  return result
}

module.exports = { mustRun, run }
