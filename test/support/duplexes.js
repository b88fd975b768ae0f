'use strict'

/**
 * Hand-made transports: what users bring when the raw socket is not a
 * net.Socket. None of them has setNoDelay, setKeepAlive, ref or unref.
 */

const { Duplex } = require('node:stream')

class SocketDuplex extends Duplex {
  #socket
  #options

  constructor (socket, options, streamOptions) {
    super(streamOptions)
    this.#socket = socket
    this.#options = options
    socket.on('data', (chunk) => this.#onData(chunk))
    socket.on('end', () => this.push(null))
    socket.on('error', (error) => this.destroy(error))
    socket.on('close', () => this.destroy())
    socket.pause()
  }

  #onData (chunk) {
    const step = this.#options.chunk ?? chunk.length
    let more = true
    for (let at = 0; at < chunk.length; at += step) {
      more = this.push(chunk.subarray(at, at + step))
    }
    if (!more) this.#socket.pause()
  }

  _read () {
    this.#socket.resume()
  }

  _write (chunk, encoding, callback) {
    const { sync, throwOnWrite, failOnWrite } = this.#options
    if (throwOnWrite) throw throwOnWrite
    if (failOnWrite) return callback(failOnWrite)
    if (sync) {
      this.#socket.write(chunk, encoding)
      callback()
      return
    }
    this.#socket.write(chunk, encoding, callback)
  }

  _final (callback) {
    if (this.#socket.destroyed) return callback()
    this.#socket.end(callback)
  }

  _destroy (error, callback) {
    if (this.#socket.closed) return callback(error)
    this.#socket.once('close', () => callback(error))
    this.#socket.destroy()
  }

  /** Lets a test change the options while the transport is in use. */
  configure (options) {
    Object.assign(this.#options, options)
  }
}

/**
 * A Duplex over a connected socket.
 *
 * @param {net.Socket} socket
 * @param {object} [options]
 *   sync          call back from inside _write
 *   chunk         bytes per push, 1 for single bytes
 *   throwOnWrite  an error that _write throws
 *   failOnWrite   an error that _write calls back with
 *   objectMode    make the Duplex one in object mode
 */
function duplexOver (socket, { objectMode = false, ...options } = {}) {
  return new SocketDuplex(socket, options, {
    objectMode,
    autoDestroy: true,
    emitClose: true,
    allowHalfOpen: true
  })
}

class PairedDuplex extends Duplex {
  other = null
  #resume = null

  _read () {
    const resume = this.#resume
    this.#resume = null
    if (resume) resume()
  }

  _write (chunk, encoding, callback) {
    if (this.other.destroyed) return callback()
    if (this.other.push(chunk)) process.nextTick(callback)
    else this.other.#resume = callback
  }

  _final (callback) {
    if (!this.other.destroyed) this.other.push(null)
    callback()
  }

  _destroy (error, callback) {
    if (!this.other.readableEnded && !this.other.destroyed) this.other.push(null)
    callback(error)
  }
}

/** Two Duplexes in memory, each reading what the other writes. */
function duplexPair () {
  const left = new PairedDuplex()
  const right = new PairedDuplex()
  left.other = right
  right.other = left
  return [left, right]
}

/** A Duplex that closes without waiting for what is below. */
function hastyDuplex (socket) {
  const duplex = new Duplex({
    read () {},
    write (chunk, encoding, callback) { socket.write(chunk, callback) },
    final (callback) { socket.end(callback) },
    destroy (error, callback) {
      socket.destroy()
      callback(error)
    }
  })
  socket.on('data', (chunk) => duplex.push(chunk))
  return duplex
}

module.exports = { duplexOver, duplexPair, hastyDuplex }
