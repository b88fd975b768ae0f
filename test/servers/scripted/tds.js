'use strict'

// As much of SQL Server as a driver needs to log in and ask one question. TDS
// 7.4 wraps the flights of the handshake into its own packets; from then on TLS
// is on the outside. Like the model, it takes no flight that is not wrapped.
//
// It knows two statements: `select 6 * 7`, and `echo` with base64 behind it;
// to all others it says that they are done.

const net = require('node:net')
const { Duplex } = require('node:stream')
const tls = require('node:tls')
const { identity, listen } = require('./listen')

const TYPE = { BATCH: 0x01, RESULT: 0x04, LOGIN: 0x10, PRELOGIN: 0x12 }
const HEADER = 8
const END_OF_MESSAGE = 1
const PAYLOAD_MAX = 4088

const secureContext = tls.createSecureContext({
  ...identity, maxVersion: 'TLSv1.2'
})

/* ---- messages ----------------------------------------------------------- */

/** A message as packets. */
function packets (type, payload) {
  const list = []
  for (let at = 0; at === 0 || at < payload.length; at += PAYLOAD_MAX) {
    const part = payload.subarray(at, at + PAYLOAD_MAX)
    const header = Buffer.alloc(HEADER)
    header[0] = type
    header[1] = at + PAYLOAD_MAX >= payload.length ? END_OF_MESSAGE : 0
    header.writeUInt16BE(HEADER + part.length, 2)
    list.push(header, part)
  }
  return Buffer.concat(list)
}

/** Puts messages together; what is left over when `accept` says no. */
class Reader {
  #bytes = Buffer.alloc(0)
  #parts = []

  /**
   * @param {Buffer} chunk
   * @param {(type: number, payload: Buffer) => void} onMessage
   * @param {(type: number) => boolean} accept
   * @returns {Buffer | null}
   */
  feed (chunk, onMessage, accept = () => true) {
    this.#bytes = Buffer.concat([this.#bytes, chunk])
    while (this.#bytes.length > 0) {
      const type = this.#bytes[0]
      if (!accept(type)) {
        const rest = this.#bytes
        this.#bytes = Buffer.alloc(0)
        return rest
      }
      if (this.#bytes.length < HEADER) return null
      const length = this.#bytes.readUInt16BE(2)
      if (this.#bytes.length < length) return null
      this.#parts.push(this.#bytes.subarray(HEADER, length))
      const last = (this.#bytes[1] & END_OF_MESSAGE) !== 0
      this.#bytes = this.#bytes.subarray(length)
      if (last) onMessage(type, Buffer.concat(this.#parts.splice(0)))
    }
    return null
  }
}

/* ---- tokens ------------------------------------------------------------- */

const utf16 = (text) => Buffer.from(text, 'utf16le')

function done (rows) {
  const token = Buffer.alloc(13)
  token[0] = 0xfd
  token.writeUInt16LE(rows > 0 ? 0x10 : 0, 1)
  token.writeBigUInt64LE(BigInt(rows), 5)
  return token
}

function loginAck () {
  const name = 'Test'
  const body = Buffer.concat([
    Buffer.from([1, 0x74, 0, 0, 4, name.length]), utf16(name),
    Buffer.from([16, 0, 0, 0])
  ])
  const head = Buffer.from([0xad, 0, 0])
  head.writeUInt16LE(body.length, 1)
  return Buffer.concat([head, body, done(0)])
}

/** One column without a name, one row. */
function result (type, value) {
  const columns = Buffer.concat([
    Buffer.from([0x81, 1, 0, 0, 0, 0, 0, 0, 0]), type, Buffer.from([0])
  ])
  return Buffer.concat([columns, Buffer.from([0xd1]), value, done(1)])
}

function integer (number) {
  const value = Buffer.alloc(4)
  value.writeInt32LE(number)
  return result(Buffer.from([0x38]), value)
}

/** varbinary(max), in one piece. */
function binary (bytes) {
  const lengths = Buffer.alloc(12)
  lengths.writeBigUInt64LE(BigInt(bytes.length))
  lengths.writeUInt32LE(bytes.length, 8)
  return result(Buffer.from([0xa5, 0xff, 0xff]),
    Buffer.concat([lengths, bytes, Buffer.alloc(4)]))
}

/** What PRELOGIN is answered with: version 16, encryption is on. */
const preloginAnswer = Buffer.from([
  0, 0, 11, 0, 6, 1, 0, 17, 0, 1, 0xff, 16, 0, 0, 0, 0, 0, 1
])

function answer (type, payload) {
  if (type === TYPE.LOGIN) return loginAck()
  if (type !== TYPE.BATCH) return done(0)
  const text = payload.toString('utf16le', payload.readUInt32LE(0))
  if (text === 'select 6 * 7') return integer(42)
  if (!text.startsWith('echo ')) return done(0)
  return binary(Buffer.from(text.slice('echo '.length), 'base64'))
}

/* ---- connections -------------------------------------------------------- */

/** What the TLS socket runs on: packets first, then the bare connection. */
class Wire extends Duplex {
  #socket
  #flight = []
  wrapped = true

  constructor (socket) {
    super()
    this.#socket = socket
  }

  _read () {}

  _write (chunk, encoding, callback) {
    if (!this.wrapped) {
      this.#socket.write(chunk, callback)
      return
    }
    // All that it says in one turn is one message.
    if (this.#flight.push(chunk) === 1) setImmediate(() => this.#send())
    callback()
  }

  #send () {
    const flight = Buffer.concat(this.#flight.splice(0))
    this.#socket.write(packets(TYPE.PRELOGIN, flight))
  }

  _final (callback) {
    this.#socket.end(callback)
  }
}

function serve (socket) {
  let wire = null
  let secure = false

  function startTls () {
    wire = new Wire(socket)
    const reader = new Reader()
    const cleartext = new tls.TLSSocket(wire, { isServer: true, secureContext })
    cleartext.on('secure', () => { secure = true })
    cleartext.on('error', () => socket.destroy())
    cleartext.on('data', (chunk) => {
      wire.wrapped = false
      reader.feed(chunk, (type, payload) => {
        cleartext.write(packets(TYPE.RESULT, answer(type, payload)))
      })
    })
  }

  function onPrelogin (type, payload) {
    if (wire !== null) {
      wire.push(payload)
      return
    }
    socket.write(packets(TYPE.RESULT, preloginAnswer))
    startTls()
  }

  const reader = new Reader()
  let bare = false
  socket.on('data', (chunk) => {
    const rest = bare
      ? chunk
      : reader.feed(chunk, onPrelogin, (type) => type === TYPE.PRELOGIN)
    if (rest === null) return
    bare = true
    if (secure) wire.push(rest)
    else socket.destroy() // a flight that is not wrapped
  })
  socket.on('error', () => {})
  socket.on('close', () => wire?.destroy())
}

listen({ PORT: net.createServer(serve) })
