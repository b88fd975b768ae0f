'use strict'

/**
 * What the core decrypts goes into one slab that JavaScript owns. Large reads
 * are handed up as slices of it; small ones are copied out, so that a few
 * bytes that somebody keeps do not keep 64 KB.
 */

const { Buffer } = require('node:buffer')
const { markAsUntransferable } = require('node:worker_threads')
const { SHARED } = require('./constants')
const { binding, common } = require('./runtime')

const SLAB_SIZE = 65536
const COPY_MAX = 8192
// Less than a record: time for a new slab.
const ROOM_MIN = 16384

const { shared } = binding

/** Also to be called when the core says that it has lost the slab. */
function renew () {
  const slab = Buffer.allocUnsafeSlow(SLAB_SIZE)
  // As node's own pools: others have slices of it, too.
  markAsUntransferable(slab.buffer)
  binding.setSlab(slab)
  common.slab = slab
  shared[SHARED.OFFSET] = 0
}

/**
 * Takes what the last EVENT.DATA announced. To be called before anything else
 * happens: the next read overwrites it.
 *
 * @returns {Buffer}
 */
function takePlaintext () {
  const { slab } = common
  const start = shared[SHARED.OFFSET]
  const length = shared[SHARED.LENGTH]
  const end = start + length
  if (length <= COPY_MAX) {
    const copy = Buffer.allocUnsafe(length)
    slab.copy(copy, 0, start, end)
    return copy
  }
  const slice = slab.subarray(start, end)
  if (SLAB_SIZE - end < ROOM_MIN) renew()
  else shared[SHARED.OFFSET] = end
  return slice
}

// Another copy of this package may have made it.
if (common.slab === undefined) renew()

module.exports = { renewSlab: renew, takePlaintext }
