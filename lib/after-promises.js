'use strict'

/**
 * Calls back in this turn of the event loop still, but behind the ticks and the
 * promises that are due, and what these make due.
 *
 * @param {Function} callback
 * @param {...unknown} args for it
 */
function afterPromises (callback, ...args) {
  process.nextTick(queueMicrotask, () => process.nextTick(callback, ...args))
}

module.exports = { afterPromises }
