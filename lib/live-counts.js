'use strict'

/**
 * What stats().connections says beyond the core's count of SSL objects.
 */

const counts = { opened: 0, handshaking: 0, fd: 0, stream: 0 }

/** @returns {{ opened: number, handshaking: number, fd: number,
 *   stream: number }} opened, and of them by transport, since the start;
 *   handshaking right now */
function liveCounts () {
  return { ...counts }
}

module.exports = { counts, liveCounts }
