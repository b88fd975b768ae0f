'use strict'

/**
 * The life of a TLS socket: one enum, and the one function that writes it.
 */

const { counts } = require('./live-counts')
const { kHandshakeTimer, kState } = require('./symbols')

const CREATED = 0 // not started, or the raw socket is not ready
const HANDSHAKE = 1
const SECURE = 2
const CLOSED = 3

function setState (socket, state) {
  if (socket[kState] === HANDSHAKE) counts.handshaking--
  if (state === HANDSHAKE) counts.handshaking++
  socket[kState] = state
  if (state === HANDSHAKE || socket[kHandshakeTimer] === null) return
  clearTimeout(socket[kHandshakeTimer])
  socket[kHandshakeTimer] = null
}

module.exports = { CLOSED, CREATED, HANDSHAKE, SECURE, setState }
