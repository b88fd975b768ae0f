'use strict'

/**
 * The other end of all measurements, a process of its own:
 *
 *   node server.js '{ "starttls": "none" }'
 *
 * It prints one line of JSON with its ports and lives until its standard input
 * ends.
 *
 *   tls    TLS 1.3, RSA-2048, after the plaintext prelude asked for
 *   mtls   the same, wants a client certificate
 *   plain  no TLS: what everything costs that is not TLS
 *
 * On each of them a client says, in one write:
 *
 *   e...        these very bytes come back
 *   d<bytes>\n  that many bytes of the pattern come
 *   u<bytes>\n  that many bytes follow; their SHA-256 comes back in hex
 */

const crypto = require('node:crypto')
const { once } = require('node:events')
const net = require('node:net')
const tls = require('node:tls')
const { pattern } = require('./pattern')
const { readPki } = require('./pki')
const { preludes } = require('./server-preludes')

const settings = JSON.parse(process.argv[2] ?? '{}')

function serve (socket) {
  let upload = null
  socket.on('error', () => {})
  socket.on('data', (chunk) => {
    if (upload !== null) {
      upload = receive(socket, upload, chunk)
    } else if (chunk[0] === 0x65) {
      socket.write(chunk)
    } else {
      const end = chunk.indexOf(0x0a)
      const bytes = Number(chunk.toString('latin1', 1, end))
      if (chunk[0] === 0x64) {
        send(socket, bytes).catch(() => {}) // the client has gone
      } else {
        upload = { left: bytes, hash: crypto.createHash('sha256') }
        upload = receive(socket, upload, chunk.subarray(end + 1))
      }
    }
  })
}

function receive (socket, upload, chunk) {
  upload.left -= chunk.length
  upload.hash.update(chunk)
  if (upload.left > 0) return upload
  socket.write(upload.hash.digest('hex'))
  return null
}

async function send (socket, bytes) {
  for (let left = bytes; left > 0 && !socket.destroyed; left -= pattern.length) {
    const part = left < pattern.length ? pattern.subarray(0, left) : pattern
    if (!socket.write(part)) await once(socket, 'drain')
  }
}

function tlsServer (more) {
  const server = tls.createServer({
    cert: readPki('server.crt'),
    key: readPki('server.key'),
    minVersion: 'TLSv1.3',
    noDelay: true,
    ...more
  })
  server.on('secureConnection', serve)
  server.on('tlsClientError', () => {})
  return server
}

/** A plain server that hands its connections over once the prelude is done. */
function afterPrelude (secure, prelude) {
  return net.createServer({ noDelay: true }, (socket) => {
    socket.on('error', () => {})
    prelude(socket, () => secure.emit('connection', socket))
  })
}

async function listen (server) {
  server.listen({ port: 0, host: '127.0.0.1', backlog: 4096 })
  await once(server, 'listening')
  return server.address().port
}

async function main () {
  const secure = tlsServer()
  const prelude = preludes[settings.starttls ?? 'none']
  const ports = {
    tls: await listen(prelude === null ? secure : afterPrelude(secure, prelude)),
    mtls: await listen(tlsServer({ requestCert: true, ca: readPki('ca.crt') })),
    plain: await listen(net.createServer({ noDelay: true }, serve))
  }
  process.stdout.write(JSON.stringify(ports) + '\n')
}

process.stdin.on('end', () => process.exit())
process.stdin.resume()
main()
