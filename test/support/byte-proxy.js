'use strict'

const { PeerServer } = require('./peer-process')

/**
 * A byte proxy in a process of its own, in front of the server at `port`.
 *
 * @param {number} port
 * @param {object} [rules] `up` and `down`, see peer-proxy.js: split, coalesce,
 *   delay, dropAt, cutAt, cut, to, hold
 * @returns {Promise<PeerServer>} with `segments()` and `bytes()` of the last
 *   connection: `{ up, down }`, and the event 'ended'
 */
async function byteProxy (port, rules = {}) {
  const proxy = await PeerServer.listen('proxy', 'proxy', { ...rules, port })
  proxy.segments = () => proxy.ask('segments')
  proxy.bytes = () => proxy.ask('bytes')
  return proxy
}

module.exports = { byteProxy }
