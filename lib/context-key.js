'use strict'

/**
 * The key of a context on the node backend: SHA-256 over a canonical, typed,
 * length-prefixed encoding of what lib/options.js made of the options, in the
 * order in which they apply. The same bytes give the same key, as a string or
 * in any kind of view; nothing is ever converted to a string.
 */

const { createHash } = require('node:crypto')

const { OPTION } = require('./constants')

const VERSION = 1
const TYPE_NUMBER = 1
const TYPE_BYTES = 2
const TYPE_NONE = 3

// list of default roots -> its own digest
const rootDigests = new WeakMap()

/** A view of any kind as bytes, not copied. */
function bytesOf (view) {
  return Buffer.from(view.buffer, view.byteOffset, view.byteLength)
}

function addHeader (hash, type, length) {
  const header = Buffer.allocUnsafe(9)
  header[0] = type
  header.writeDoubleLE(length, 1)
  hash.update(header)
}

function addValue (hash, value) {
  if (value === undefined) {
    addHeader(hash, TYPE_NONE, 0)
  } else if (typeof value === 'number') {
    addHeader(hash, TYPE_NUMBER, value)
  } else if (typeof value === 'string') {
    addHeader(hash, TYPE_BYTES, Buffer.byteLength(value))
    hash.update(value, 'utf8')
  } else {
    addHeader(hash, TYPE_BYTES, value.byteLength)
    hash.update(bytesOf(value))
  }
}

function digestOfRoots (roots) {
  let digest = rootDigests.get(roots)
  if (digest === undefined) {
    const hash = createHash('sha256')
    for (const pem of roots) addValue(hash, pem)
    digest = hash.digest()
    rootDigests.set(roots, digest)
  }
  return digest
}

/**
 * @param {Array} fields [option, value, passphrase, ...] in ascending order
 * @param {readonly string[]} roots what OPTION.DEFAULT_ROOTS stands for
 * @returns {Buffer} 32 bytes
 */
function contextDigest (fields, roots) {
  const hash = createHash('sha256')
  addValue(hash, VERSION)
  for (let i = 0; i < fields.length; i += 3) {
    const option = fields[i]
    addValue(hash, option)
    addValue(hash, option === OPTION.DEFAULT_ROOTS
      ? digestOfRoots(roots)
      : fields[i + 1])
    addValue(hash, fields[i + 2])
  }
  return hash.digest()
}

module.exports = { contextDigest }
