'use strict'

/**
 * One connection as a test of sessions sees it.
 */

const { once } = require('node:events')
const net = require('node:net')
const { closed, connected, take } = require('./sockets')

/**
 * Upgrades a socket, exchanges a few bytes, by which the tickets have come, and
 * says what was seen. The socket is destroyed unless `keep` is set.
 *
 * @param {object} subject see subjects.js
 * @param {object} server to connect to; it must echo
 * @param {object} [options] of connect()
 * @param {object} [also]
 * @param {boolean} [also.keep] leaves the socket open, as `socket`
 * @param {(socket: TLSSocket) => any} [also.look] its result is `seen`
 * @param {(socket: TLSSocket) => void} [also.prepare] called right after
 *   connect(), which then upgrades a socket that is still connecting
 * @returns {Promise<object>} { reused, authorized, authorizationError, code }:
 *   `code` is that of the error, `reused` is null if there was one
 */
async function visit (subject, server, options = {}, also = {}) {
  const { keep, look, prepare } = also
  const raw = prepare
    ? net.connect(server.port, '127.0.0.1')
    : await connected(server)
  const socket = subject.connect({ socket: raw, ...options })
  // In the listener itself: one segment with the client's Finished.
  socket.once('secureConnect', () => socket.write('ping'))
  try {
    prepare?.(socket)
    await once(socket, 'secureConnect')
    await take(socket, 4)
  } catch (error) {
    if (!socket.closed) await closed(socket)
    return { ...verdict(socket), reused: null, code: error.code ?? error.message }
  }
  const result = {
    ...verdict(socket), reused: socket.isSessionReused(), code: null
  }
  if (look) result.seen = await look(socket)
  if (keep) result.socket = socket
  else await leave(socket)
  return result
}

function verdict ({ authorized, authorizationError }) {
  return { authorized, authorizationError }
}

async function leave (socket) {
  const gone = closed(socket)
  socket.destroy()
  await gone
}

/** Whether each of `count` visits, one after the other, was resumed. */
async function reuses (subject, server, count, options) {
  const list = []
  for (let i = 0; i < count; i++) {
    const { reused, code } = await visit(subject, server, options)
    list.push(code ?? reused)
  }
  return list
}

const versions = ['TLSv1.2', 'TLSv1.3']

module.exports = { leave, reuses, versions, visit }
