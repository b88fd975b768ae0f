'use strict'

const { spawn } = require('node:child_process')
const path = require('node:path')

const root = path.join(__dirname, '..', '..')

/**
 * Runs a command in the project's directory.
 *
 * @param {string[]} command
 * @param {object} [options]
 * @param {object} [options.env] added to the environment
 * @param {boolean} [options.quiet] do not show its output as it comes
 * @param {number} [options.limit] milliseconds after which it is killed, with
 *   every process that it started
 * @returns {Promise<{ ok: boolean, output: string, why: string | null }>}
 */
function exec ([file, ...args], { env = {}, quiet = false, limit = 300_000 } = {}) {
  return new Promise((resolve) => {
    const child = spawn(file, args, {
      cwd: root,
      env: { ...process.env, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true
    })
    let output = ''
    let why = null
    for (const name of ['stdout', 'stderr']) {
      child[name].setEncoding('utf8').on('data', (text) => {
        output += text
        if (!quiet) process[name].write(text)
      })
    }
    const timer = setTimeout(() => {
      why = `not finished after ${limit / 1000} s`
      endGroup(child.pid)
    }, limit)
    child.on('error', (error) => {
      clearTimeout(timer)
      resolve({ ok: false, output, why: error.message })
    })
    child.on('exit', () => endGroup(child.pid))
    child.on('close', (code, signal) => {
      clearTimeout(timer)
      if (why === null && code !== 0) why = `ended with ${signal ?? `status ${code}`}`
      resolve({ ok: why === null, output, why })
    })
  })
}

/** Ends what a command may have left behind in its process group. */
function endGroup (pid) {
  try {
    process.kill(-pid, 'SIGKILL')
  } catch {
    // Nothing was left.
  }
}

module.exports = { exec, root }
