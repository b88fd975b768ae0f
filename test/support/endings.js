'use strict'

const certs = require('./certs')
const { secured } = require('./sockets')

/** What ends a connection as soon as it is secure. */
function onceSecure (act) {
  return async (socket, raw, abort) => {
    await secured(socket)
    act(socket, raw, abort)
  }
}

/**
 * The ways in which a connection ends: name -> { start, act }. `start()` gives
 * the server that it needs, `act(socket, raw, abort)` brings the end about;
 * `abort` aborts the signal that the socket was opened with.
 *
 * @param {object} peers of usePeers()
 */
function endings (peers) {
  const server = (identity, behaviour) => () =>
    peers.tlsServer(identity, behaviour)
  const echo = server(certs.server)
  const nothing = () => {}
  const read = (socket) => { socket.resume() }
  return {
    'end()': {
      start: echo, act: onceSecure((socket) => socket.resume().end('bye'))
    },
    'destroy()': { start: echo, act: onceSecure((socket) => socket.destroy()) },
    'destroy() in the handshake': {
      start: echo, act: (socket) => socket.destroy()
    },
    'destroySoon()': {
      start: echo,
      act: onceSecure((socket) => {
        socket.write('bye')
        socket.destroySoon()
      })
    },
    'raw.destroy()': {
      start: echo, act: onceSecure((socket, raw) => raw.destroy())
    },
    'raw.resetAndDestroy()': {
      start: echo, act: onceSecure((socket, raw) => raw.resetAndDestroy())
    },
    'an end of the server': { start: server(certs.server, 'end'), act: read },
    'a FIN of the server': { start: server(certs.server, 'destroy'), act: read },
    'a reset of the server': { start: server(certs.server, 'reset'), act: read },
    'a failed handshake': {
      start: () => peers.plainServer((socket) => {
        socket.on('error', () => {})
        socket.once('data', () => socket.write('no TLS'))
      }),
      act: nothing
    },
    'a failed verification': { start: server(certs.fromOther), act: nothing },
    'an abort signal': {
      start: echo, act: onceSecure((socket, raw, abort) => abort())
    }
  }
}

module.exports = { endings }
