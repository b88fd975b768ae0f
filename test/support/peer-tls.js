'use strict'

/**
 * The `tls` kind of peer-child.js. `options` are those of tls.createServer and
 *   contexts  { name: options of tls.createSecureContext }, by SNI
 *   tickets   false: no session tickets and no session ids
 *
 * Events: 'connection' when a secured connection closed, with all that was seen
 * of it; 'clientError' for a handshake that failed; 'report' from handlers.
 */

const crypto = require('node:crypto')
const tls = require('node:tls')

module.exports = function tlsKind (options, handler, emit, control) {
  const { contexts, tickets, ...rest } = options
  if (tickets === false) {
    rest.secureOptions = crypto.constants.SSL_OP_NO_TICKET
  }
  const server = tls.createServer(rest)
  for (const [name, context] of Object.entries(contexts ?? {})) {
    server.addContext(name, context)
  }

  server.on('tlsClientError', (error, socket) => {
    emit('clientError', {
      code: error.code,
      message: error.message,
      servername: socket.servername
    })
  })

  server.on('secureConnection', (socket) => {
    const seen = facts(socket)
    const hash = crypto.createHash('sha256')
    watchBytes(socket, hash, seen)
    socket.on('end', () => { seen.ended = true })
    socket.on('error', (error) => { seen.error = error.code })
    socket.on('close', (hadError) => {
      emit('connection', { ...seen, sha256: hash.digest('hex'), hadError })
    })
    emit('secure', seen)
    handler(socket, {
      options,
      on: (name, listener) => control.on(name, listener),
      report: (value) => emit('report', value),
      require
    })
  })

  return { server }
}

function facts (socket) {
  const certificate = socket.getPeerCertificate()
  return {
    servername: socket.servername,
    alpn: socket.alpnProtocol,
    authorized: socket.authorized,
    authorizationError: socket.authorizationError?.code ??
      socket.authorizationError,
    peer: certificate?.subject?.CN ?? null,
    protocol: socket.getProtocol(),
    cipher: socket.getCipher().name,
    reused: socket.isSessionReused(),
    remotePort: socket.remotePort,
    bytes: 0,
    ended: false,
    error: null
  }
}

// Counts in push(), so that a handler decides alone whether and how it reads.
function watchBytes (socket, hash, seen) {
  const push = socket.push
  socket.push = function (chunk, encoding) {
    if (chunk !== null) {
      hash.update(chunk)
      seen.bytes += chunk.length
    }
    return push.call(this, chunk, encoding)
  }
}
