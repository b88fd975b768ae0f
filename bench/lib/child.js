'use strict'

/**
 * Processes that talk in lines of JSON on their standard streams, so that every
 * runtime, and a C program, can be one.
 */

const { spawn } = require('node:child_process')
const path = require('node:path')
const readline = require('node:readline')

const root = path.join(__dirname, '..', '..')

class Child {
  #process
  #lines
  #exit

  /**
   * @param {string[]} command
   * @param {{ env?: object }} [options] env: added to the environment
   */
  constructor ([file, ...args], { env = {} } = {}) {
    this.#process = spawn(file, args, {
      cwd: root,
      env: { ...process.env, ...env },
      stdio: ['pipe', 'pipe', 'inherit']
    })
    this.#process.stdin.on('error', () => {})
    this.#exit = new Promise((resolve) => {
      this.#process.once('error', (error) => resolve(error.message))
      this.#process.once('close', (code, signal) => resolve(signal ?? code))
    })
    this.#lines = readline.createInterface({ input: this.#process.stdout })[
      Symbol.asyncIterator]()
  }

  get pid () {
    return this.#process.pid
  }

  /** The next line that it says. */
  async receive () {
    const { value, done } = await this.#lines.next()
    if (done) throw new Error(`a child process ended: ${await this.#exit}`)
    const message = JSON.parse(value)
    if (message.error) throw new Error(message.error)
    return message
  }

  /** Says a line to it and waits for the answer. */
  ask (message) {
    this.#process.stdin.write(JSON.stringify(message) + '\n')
    return this.receive()
  }

  /** Ends its input, which ends it. */
  async close () {
    this.#process.stdin.end()
    return this.#exit
  }
}

/**
 * Starts the server of lib/server.js.
 *
 * @param {{ starttls?: string }} [settings]
 */
async function startServer (settings = {}) {
  const server = new Child([
    process.execPath, path.join(__dirname, 'server.js'), JSON.stringify(settings)
  ])
  server.ports = await server.receive()
  return server
}

module.exports = { Child, root, startServer }
