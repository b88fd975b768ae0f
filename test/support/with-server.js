'use strict'

/** A TLS server of node's for the time of one test, and a visit to it. */

const { once } = require('node:events')
const tls = require('node:tls')

const certs = require('./certs')

const host = '127.0.0.1'

/** Runs a TLS server while something is done with its port. */
async function withServer (options, action) {
  const server = tls.createServer({ ...certs.server, ...options }, (peer) => {
    peer.on('error', () => {})
    peer.write('hello')
    peer.on('data', (chunk) => peer.write(chunk))
  })
  const accepted = new Set()
  server.on('connection', (peer) => accepted.add(peer))
  server.on('tlsClientError', () => {})
  server.listen(0, host)
  await once(server, 'listening')
  try {
    await action(server.address().port, server)
  } finally {
    for (const peer of accepted) peer.destroy()
    server.close()
    await once(server, 'close')
  }
}

/**
 * @param {Function} connect of the backend under test
 * @returns {Function} one connection until its first data, and what could be
 *   said of it then
 */
function visitor (connect) {
  return async function visit (port, options = {}) {
    const socket = connect({ port, host, ca: certs.ca, ...options })
    let session
    let sessions
    socket.once('session', (...args) => { sessions = args })
    await once(socket, 'data')
    const { issuerCertificate, raw } = socket.getPeerCertificate(true)
    const result = {
      authorized: socket.authorized,
      authorizationError: socket.authorizationError,
      reused: socket.isSessionReused(),
      issuer: issuerCertificate?.subject.CN,
      raw,
      x509: socket.getPeerX509Certificate()?.raw
    }
    // node's servers give no new ticket on resumption.
    if (!result.reused) [session] = sessions ?? await once(socket, 'session')
    Object.defineProperty(result, 'session',
      { enumerable: false, value: session })
    socket.end()
    await once(socket, 'close')
    return result
  }
}

module.exports = { host, visitor, withServer }
