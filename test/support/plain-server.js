'use strict'

const { PeerServer } = require('./peer-process')

/**
 * A server in the peer process that plays a plaintext protocol.
 *
 * @param {function} handler `(socket, peer)`, sent as source text. It may turn
 *   the socket to TLS with `peer.startTls(options[, then])`.
 * @param {object} [options] `allowHalfOpen`, `pauseOnConnect`, `host`, `path`;
 *   the handler finds them all in `peer.options`
 * @returns {Promise<PeerServer>}
 */
function plainServer (handler, options = {}) {
  return PeerServer.listen('server', 'plain', options, handler)
}

/**
 * A STARTTLS-like server: greets, and answers the line `STARTTLS` with `go`
 * before it becomes a TLS server that echoes.
 *
 * @param {object} tls options of tls.createSecureContext for the TLS part
 * @param {object} [script] `greeting` and `go`, strings in latin1
 */
function startTlsServer (tls, { greeting = '220 ready\r\n', go = '220 go\r\n' } = {}) {
  return plainServer((socket, peer) => {
    const { greeting, go } = peer.options.script
    let line = ''
    socket.write(greeting, 'latin1')
    socket.on('data', function onData (chunk) {
      line += chunk.toString('latin1')
      if (!line.endsWith('STARTTLS\r\n')) return
      socket.removeListener('data', onData)
      socket.write(go, 'latin1')
      peer.startTls(peer.options.tls)
    })
  }, { tls, script: { greeting, go } })
}

module.exports = { plainServer, startTlsServer }
