'use strict'

/**
 * The event trace of a scenario: what the TLS socket and the raw socket emit,
 * in one sequence, as text.
 *
 *   tls.secureConnect   raw.close(false)   tls.error(ECONNRESET)   tls.data(3)
 *
 * Consecutive `data` events are one, with the sum of their bytes: how bytes are
 * cut into events is not part of what is compared.
 */

const assert = require('node:assert')
const { subjects } = require('./subjects')

const SIMPLE = ['connect', 'secureConnect', 'secure', 'session', 'end',
  'finish', 'timeout']

class Trace {
  #entries = []
  #closes = new Map()
  #ignored

  constructor (ignored) {
    this.#ignored = new Set(ignored)
  }

  /**
   * Records the events of a socket under a name. `data: true` makes it flow;
   * the raw socket's `data` is not listened to unless asked for. `error: false`
   * leaves the socket without a listener for `error`.
   */
  watch (name, socket, { data = name === 'tls', error = true } = {}) {
    for (const event of SIMPLE) {
      socket.on(event, () => this.note(`${name}.${event}`))
    }
    if (data) {
      socket.on('data', (chunk) => this.#onData(name, chunk.length))
    }
    if (error) {
      socket.on('error', (reason) => {
        this.note(`${name}.error(${reason.code ?? reason.message})`)
      })
    }
    this.#closes.set(name, new Promise((resolve) => {
      socket.on('close', (hadError) => {
        this.note(`${name}.close(${hadError ?? ''})`)
        resolve()
      })
    }))
    return socket
  }

  /** Records a mark of the scenario's own. */
  note (text) {
    if (this.#ignored.has(text.replace(/\(.*/, '').split('.')[1])) return
    this.#entries.push({ text })
  }

  /** Resolves when all watched sockets, or the named ones, have closed. */
  async closed (...names) {
    const all = names.length > 0 ? names : [...this.#closes.keys()]
    await Promise.all(all.map((name) => this.#closes.get(name)))
    // Whatever is emitted after the last 'close' belongs to the trace, too.
    for (let turn = 0; turn < 3; turn++) await new Promise(setImmediate)
  }

  #onData (name, length) {
    const last = this.#entries.at(-1)
    if (last?.data === name) {
      last.bytes += length
      last.text = `${name}.data(${last.bytes})`
      return
    }
    this.#entries.push({
      data: name,
      bytes: length,
      text: `${name}.data(${length})`
    })
  }

  get events () {
    return this.#entries.map((entry) => entry.text)
  }

  /** The events of one socket only. */
  of (name) {
    return this.events
      .filter((text) => text.startsWith(`${name}.`))
      .map((text) => text.slice(name.length + 1))
  }
}

/**
 * The trace of a scenario with one subject. The scenario gets
 * `({ subject, connect, tls, trace })` and resolves when all is over; it
 * usually ends with `await trace.closed()`.
 *
 * @param {object} [options] `ignore`: names of events left out; 'session' is,
 *   unless `ignore` is given, because its count depends on timing
 */
async function traceOf (subject, scenario, { ignore = ['session'] } = {}) {
  const trace = new Trace(ignore)
  await scenario({
    subject,
    connect: subject.connect,
    tls: subject.tls,
    trace
  })
  return trace.events
}

/** Runs the scenario with each subject; the traces must be the same. */
async function sameTrace (scenario, options) {
  const [reference, ...others] = subjects()
  const expected = await traceOf(reference, scenario, options)
  for (const subject of others) {
    const actual = await traceOf(subject, scenario, options)
    assert.deepStrictEqual(actual, expected,
      `${subject.name} is not as ${reference.name}`)
  }
  return expected
}

module.exports = { Trace, sameTrace, traceOf }
