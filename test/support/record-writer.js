'use strict'

const { createCipheriv, createHmac } = require('node:crypto')

const HANDSHAKE = 22
const DATA = 23

/** HKDF-Expand-Label of RFC 8446, section 7.1, up to one block of SHA-256. */
function expandLabel (secret, label, length) {
  const name = Buffer.from(`tls13 ${label}`)
  const info = Buffer.from([0, length, name.length, ...name, 0, 1])
  return createHmac('sha256', secret).update(info).digest().subarray(0, length)
}

/**
 * Writes what a peer says after its handshake, for what no real one says: TLS
 * 1.3 with TLS_AES_128_GCM_SHA256, from the secret that the keylog tells. It
 * must be the only one to say anything.
 */
class RecordWriter {
  #secret
  #key
  #iv
  #sequence

  /** @param {Buffer} secret SERVER_TRAFFIC_SECRET_0 */
  constructor (secret) {
    this.#use(secret)
  }

  #use (secret) {
    this.#secret = secret
    this.#key = expandLabel(secret, 'key', 16)
    this.#iv = expandLabel(secret, 'iv', 12)
    this.#sequence = 0
  }

  #record (type, content) {
    const nonce = Buffer.from(this.#iv)
    const low = nonce.readUInt32BE(8) ^ this.#sequence++
    nonce.writeUInt32BE(low >>> 0, 8)
    const length = content.length + 17
    const head = Buffer.from([DATA, 3, 3, length >> 8, length & 0xff])
    const cipher = createCipheriv('aes-128-gcm', this.#key, nonce).setAAD(head)
    const body = cipher.update(Buffer.from([...content, type]))
    return Buffer.concat([head, body, cipher.final(), cipher.getAuthTag()])
  }

  data (text) {
    return this.#record(DATA, Buffer.from(text))
  }

  /** A KeyUpdate that asks for one in return; what follows has other keys. */
  keyUpdate () {
    const record = this.#record(HANDSHAKE, Buffer.from([24, 0, 0, 1, 1]))
    this.#use(expandLabel(this.#secret, 'traffic upd', 32))
    return record
  }
}

module.exports = { RecordWriter }
