'use strict'

/**
 * The `onread` option of net.Socket: plaintext goes into the user's buffer,
 * and a function is told.
 */

const { SHARED } = require('./constants')
const { binding } = require('./runtime')
const { kConnection } = require('./symbols')

const { shared } = binding

/** @returns {boolean} whether the option is one that net.Socket would take */
function isOnread (onread) {
  return typeof onread === 'object' && onread !== null &&
    (onread.buffer instanceof Uint8Array ||
      typeof onread.buffer === 'function') &&
    typeof onread.callback === 'function'
}

class Onread {
  #socket
  #make
  #buffer
  #callback
  #length = 0

  constructor (socket, { buffer, callback }) {
    this.#socket = socket
    this.#callback = callback
    this.#make = typeof buffer === 'function' ? buffer : null
    this.#use(this.#make === null ? buffer : this.#make())
  }

  #use (buffer) {
    const connection = this.#socket[kConnection]
    if (!(buffer instanceof Uint8Array) || connection === null) return
    this.#buffer = buffer
    connection.setReadBuffer(buffer)
  }

  /** What the core has put into the buffer. */
  take () {
    this.#length = shared[SHARED.LENGTH]
    return this.#buffer
  }

  /** @returns {boolean} whether to go on reading */
  give (buffer) {
    const more = this.#callback(this.#length, buffer) !== false
    if (this.#make !== null) this.#use(this.#make())
    return more
  }
}

module.exports = { Onread, isOnread }
