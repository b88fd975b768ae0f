'use strict'

/**
 * The `plain` kind of peer-child.js: `handler(socket, peer)` plays a plaintext
 * protocol on a net.Socket. `peer.startTls(options[, then])` turns it into the
 * server's side of a TLS connection (`then(secureSocket)` once it is secure),
 * `peer.report(value)` tells the parent, `peer.on(name, listener)` hears it,
 * `peer.options` is what the server was made with.
 *
 * Events: 'report', 'secure' (servername), 'closed' ({ bytesRead, hadError,
 * error }) when the plain socket closed.
 */

const net = require('node:net')
const tls = require('node:tls')

module.exports = function plainKind (options, handler, emit, control) {
  const server = net.createServer({
    allowHalfOpen: options.allowHalfOpen ?? false,
    pauseOnConnect: options.pauseOnConnect ?? false
  })

  server.on('connection', (socket) => {
    const seen = { error: null }
    socket.setNoDelay(true)
    socket.on('error', (error) => { seen.error = error.code })
    socket.on('close', (hadError) => {
      emit('closed', { ...seen, hadError, bytesRead: socket.bytesRead })
    })
    handler(socket, {
      options,
      on: (name, listener) => control.on(name, listener),
      report: (value) => emit('report', value),
      startTls: (tlsOptions, then) => startTls(socket, tlsOptions, emit, then),
      require
    })
  })

  return { server }
}

function startTls (socket, options, emit, then) {
  socket.removeAllListeners('data')
  const secure = new tls.TLSSocket(socket, {
    isServer: true,
    secureContext: tls.createSecureContext(options),
    requestCert: options.requestCert,
    rejectUnauthorized: options.rejectUnauthorized,
    ALPNProtocols: options.ALPNProtocols
  })
  secure.on('error', () => {})
  secure.once('secure', () => {
    emit('secure', secure.servername)
    if (then) then(secure)
    else secure.pipe(secure)
  })
  return secure
}
