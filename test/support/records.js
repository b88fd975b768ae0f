'use strict'

const types = {
  20: 'change cipher spec',
  21: 'alert',
  22: 'handshake',
  23: 'data'
}

/**
 * The TLS records in captured bytes, as { type, length }. With TLS 1.2 the types
 * are the true ones; TLS 1.3 shows 'data' for whatever is encrypted.
 */
function records (bytes) {
  const found = []
  for (let at = 0; at + 5 <= bytes.length;) {
    const length = bytes.readUInt16BE(at + 3)
    found.push({ type: types[bytes[at]] ?? `unknown (${bytes[at]})`, length })
    at += 5 + length
  }
  return found
}

module.exports = { records }
