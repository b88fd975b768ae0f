'use strict'

const { EventEmitter } = require('node:events')
const { ENCODING, EVENT } = require('../../lib/constants')
const { flattenContextOptions } = require('../../lib/options')
const { takePlaintext } = require('../../lib/plaintext')
const { binding } = require('../../lib/runtime')

/**
 * The native core with as little on top as the cases can do with: no streams, no
 * checks of names, no backpressure. What eager-fd costs more is the price of
 * being a TLSSocket.
 */
class BareSocket extends EventEmitter {
  #connection
  #raw
  authorized = false

  constructor (raw, options, resume) {
    super()
    const { fields } = flattenContextOptions(options)
    this.#raw = raw
    this.#connection = new binding.Connection(null, fields, false)
    this.#connection.setServername(options.servername)
    raw._handle.readStart = () => 0
    this.#connection.attach(this, raw._handle.fd)
    if (resume) this.#connection.useStore(String(raw.remotePort), true)
    this.deliver(this.#connection.start())
  }

  deliver (events) {
    const connection = this.#connection
    if (events & EVENT.ERROR) {
      this.emit('error', new Error(String(connection.takeError())))
    }
    if (events & EVENT.HANDSHAKE) {
      this.authorized = connection.verifyError() === null
      connection.acceptSessions()
      this.emit('secureConnect')
    }
    if (events & EVENT.DATA) this.emit('data', takePlaintext())
    if (events & EVENT.END) this.#close()
  }

  #close () {
    this.#connection.close(false)
    this.#raw.once('close', () => this.emit('close'))
    this.#raw.destroy()
  }

  isSessionReused () { return this.#connection.sessionReused() }
  write (chunk) { this.#connection.write(chunk, ENCODING.BUFFER) }
  end () { this.#connection.shutdown() }
  resume () {}
}

binding.setCallback(function onEvents (events) {
  this.deliver(events)
})

module.exports = { BareSocket }
