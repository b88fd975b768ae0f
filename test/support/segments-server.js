'use strict'

const certs = require('./certs')

/**
 * A TLS server that decides what shares a segment, and may say what is no TLS.
 *
 * @param {object} peers of usePeers()
 * @param {object} script
 *   greeting  written when the handshake is done, in one segment with its end
 *   broken    sent in plain text in answer to the first data
 *   deaf      it reads no more from then on
 *   gone      it resets the connection then
 * @param {object} [options] maxVersion
 * @returns {Promise<PeerServer>} reports `{ ended: true }` on the client's FIN
 */
function segmentsServer (peers, script, options = {}) {
  return peers.plainServer((socket, peer) => {
    const { Duplex } = peer.require('node:stream')
    const tls = peer.require('node:tls')
    const { greeting, broken, deaf, gone } = peer.options.script
    const below = new Duplex({
      read () {},
      write (chunk, encoding, callback) {
        socket.cork()
        socket.write(chunk)
        setImmediate(() => socket.uncork())
        callback()
      }
    })
    socket.on('data', (chunk) => below.push(chunk))
    socket.on('end', () => {
      peer.report({ ended: true })
      socket.end()
    })
    const secure = new tls.TLSSocket(below, {
      isServer: true,
      secureContext: tls.createSecureContext(peer.options.tls)
    })
    secure.on('error', () => {})
    secure.once('secure', () => {
      if (greeting) secure.write(greeting)
    })
    secure.on('data', () => {
      if (broken) socket.write(broken)
      if (deaf) socket.pause()
      if (gone) setImmediate(() => socket.resetAndDestroy())
    })
  }, { script, tls: { ...certs.server, ...options }, allowHalfOpen: true })
}

module.exports = { segmentsServer }
