'use strict'

const EXTENSIONS = { 0: 'servername', 16: 'alpn', 35: 'ticket', 41: 'psk' }

/** Reads numbers and vectors one after the other. */
class Reader {
  #at = 0

  constructor (bytes) {
    this.bytes = bytes
  }

  get done () {
    return this.#at >= this.bytes.length
  }

  number (size) {
    this.#at += size
    return this.bytes.readUIntBE(this.#at - size, size)
  }

  take (length) {
    this.#at += length
    return this.bytes.subarray(this.#at - length, this.#at)
  }

  /** Bytes behind their length, which has `size` bytes. */
  vector (size) {
    return this.take(this.number(size))
  }
}

/**
 * What the ClientHello at the beginning of captured bytes offers to resume.
 *
 * @param {Buffer} bytes one record of type handshake, at least
 * @returns {{ sessionId: string, ticket: string | null, identities: string[] }}
 *   in hex: the session id, the ticket of TLS 1.2 ('' asks for one), the tickets
 *   of TLS 1.3
 */
function clientHello (bytes) {
  const record = new Reader(bytes)
  record.take(3)
  const message = new Reader(record.vector(2))
  message.number(1)
  const hello = new Reader(message.vector(3))
  hello.take(2 + 32)
  const sessionId = hello.vector(1).toString('hex')
  hello.vector(2)
  hello.vector(1)
  const found = {}
  const extensions = new Reader(hello.vector(2))
  while (!extensions.done) {
    const name = EXTENSIONS[extensions.number(2)]
    const content = extensions.vector(2)
    if (name) found[name] = content
  }
  const identities = []
  if (found.psk) {
    const list = new Reader(new Reader(found.psk).vector(2))
    while (!list.done) {
      identities.push(list.vector(2).toString('hex'))
      list.take(4)
    }
  }
  return { sessionId, ticket: found.ticket?.toString('hex') ?? null, identities }
}

module.exports = { clientHello }
