'use strict'

const { createHash } = require('node:crypto')

// Bytes that do not repeat within a record, so that what is lost or doubled
// shows in the digest.
const pattern = Buffer.alloc(1 << 20)
for (let i = 0; i < pattern.length; i += 4) {
  pattern.writeUInt32LE(Math.imul(i + 1, 2654435761) >>> 0, i)
}

/** SHA-256 of the first `bytes` bytes of the pattern, over and over, in hex. */
function patternDigest (bytes) {
  const hash = createHash('sha256')
  for (let left = bytes; left > 0; left -= pattern.length) {
    hash.update(left < pattern.length ? pattern.subarray(0, left) : pattern)
  }
  return hash.digest('hex')
}

module.exports = { pattern, patternDigest }
