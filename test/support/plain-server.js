'use strict'

const { PeerServer } = require('./peer-process')

/**
 * A server in the peer process that plays a plaintext protocol.
 *
 * @param {function} handler `(socket, peer)`, sent as source text. It may turn
 *   the socket to TLS with `peer.startTls(options[, then])`.
 * @param {object} [options] `allowHalfOpen`, `pauseOnConnect`, `host`, `path`
 * @returns {Promise<PeerServer>}
 */
function plainServer (handler, options = {}) {
  return PeerServer.listen('server', 'plain', options, handler)
}

/**
 * A STARTTLS-like server: greets, and answers the line `STARTTLS` with `go`
 * before it becomes a TLS server that runs `then(secureSocket)` (echo when
 * omitted).
 *
 * @param {object} options of tls.createSecureContext for the TLS part
 * @param {object} [script] `greeting`, `go`
 */
function startTlsServer (options, { greeting = '220 ready\r\n', go = '220 go\r\n' } = {}) {
  const handler = `(socket, peer) => {
    let line = ''
    socket.write(${JSON.stringify(greeting)})
    socket.on('data', function onData (chunk) {
      line += chunk.toString('latin1')
      if (!line.endsWith('STARTTLS\\r\\n')) return
      socket.removeListener('data', onData)
      socket.write(Buffer.from(${JSON.stringify(go)}, 'latin1'))
      peer.startTls(${JSON.stringify(options)})
    })
  }`
  return PeerServer.listen('server', 'plain', {}, handler)
}

module.exports = { plainServer, startTlsServer }
