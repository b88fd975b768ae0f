'use strict'

const { spawn } = require('node:child_process')
const { once } = require('node:events')

/**
 * An `openssl s_server`, for what node's own server cannot do: KeyUpdate,
 * renegotiation, another number of tickets, alerts under encryption.
 */
class SServer {
  #child
  #output = ''
  #waiting = []

  constructor (child) {
    this.#child = child
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('latin1')
      stream.on('data', (text) => this.#onOutput(text))
    }
    child.stdin.on('error', () => {})
  }

  get output () {
    return this.#output
  }

  get pid () {
    return this.#child.pid
  }

  /** Resolves with the match once the output holds `pattern`. */
  until (pattern) {
    const found = this.#output.match(pattern)
    if (found) return Promise.resolve(found)
    return new Promise((resolve) => this.#waiting.push({ pattern, resolve }))
  }

  /**
   * Types `text`. At the beginning of a line `K`/`k` asks for a KeyUpdate,
   * `R`/`r` for a renegotiation, `Q`/`q` ends, `P` sends plaintext.
   */
  type (text) {
    this.#child.stdin.write(text)
  }

  async close () {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return
    const gone = once(this.#child, 'exit')
    this.#child.kill('SIGKILL')
    await gone
  }

  #onOutput (text) {
    this.#output += text
    this.#waiting = this.#waiting.filter(({ pattern, resolve }) => {
      const found = this.#output.match(pattern)
      if (found) resolve(found)
      return !found
    })
  }
}

/**
 * Starts s_server on a free port of 127.0.0.1.
 *
 * @param {object} identity with `certFile` and `keyFile`, as in certs.js
 * @param {string[]} [args] further arguments
 * @returns {Promise<SServer>} with `port`
 */
async function sServer ({ certFile, keyFile }, args = []) {
  const child = spawn('openssl', [
    's_server', '-accept', '127.0.0.1:0', '-cert', certFile, '-key', keyFile,
    ...args
  ])
  const server = new SServer(child)
  const [, port] = await server.until(/ACCEPT 127\.0\.0\.1:(\d+)/)
  server.port = Number(port)
  return server
}

module.exports = { sServer }
