'use strict'

/**
 * What a TLS socket tells of its connection, field by field as node:tls tells
 * it of a connection to the same server.
 */

const assert = require('node:assert')
const tls = require('node:tls')

const certs = require('../support/certs')
const { usePeers } = require('../support/peers')
const { closed, connected, secured } = require('../support/sockets')
const { eachSubject } = require('../support/subjects')

const { ca } = certs

describe('what is told of the connection', () => {
  const peers = usePeers()

  eachSubject((subject) => {
    /** The same of a connection by node:tls and of one by the subject. */
    async function both (server, options, read) {
      const answers = []
      for (const connect of [tls.connect, subject.connect]) {
        const socket = await secured(connect({ socket: await connected(server), ca, ...options }))
        answers.push(read(socket))
        socket.destroy()
      }
      return answers
    }

    async function assertSame (server, options, read) {
      const [expected, actual] = await both(server, options, read)
      assert.deepStrictEqual(actual, expected)
      return expected
    }

    const identities = ['server', 'ec', 'chained', 'wildcard', 'selfSigned', 'cnOnly', 'ipOnly']
    for (const name of identities) {
      const lax = { rejectUnauthorized: false }

      it(`the certificate of ${name}, without and with its issuers, is node's`, async () => {
        const server = await peers.tlsServer(certs[name])
        const plain = await assertSame(server, lax, (socket) => socket.getPeerCertificate())
        assert.ok(Buffer.isBuffer(plain.raw))
        assert.strictEqual(plain.issuerCertificate, undefined)
        const detailed = await assertSame(server, lax, (socket) => socket.getPeerCertificate(true))
        if (name !== 'selfSigned') assert.ok(detailed.issuerCertificate.raw)
      })

      it(`the X509Certificate of ${name} is node's`, async () => {
        const server = await peers.tlsServer(certs[name])
        const told = await assertSame(server, lax, (socket) => {
          const certificate = socket.getPeerX509Certificate()
          return [certificate.constructor.name, certificate.fingerprint256, certificate.subject,
            certificate.issuerCertificate?.fingerprint256]
        })
        assert.strictEqual(told[0], 'X509Certificate')
      })
    }

    it('the own certificate is node\'s, and none without one', async () => {
      const server = await peers.tlsServer({ ...certs.server, ca, requestCert: true })
      await assertSame(server, certs.clientA, (socket) => socket.getCertificate())
      await assertSame(server, certs.clientA, (socket) => socket.getX509Certificate().fingerprint256)
      const plain = await peers.tlsServer(certs.server)
      await assertSame(plain, {}, (socket) => [socket.getCertificate(), socket.getX509Certificate()])
    })

    const versions = ['TLSv1.2', 'TLSv1.3']
    for (const maxVersion of versions) {
      it(`cipher, protocol, key and signature facts are node's with ${maxVersion}`, async () => {
        const server = await peers.tlsServer({ ...certs.server, ca, requestCert: true, maxVersion })
        const told = await assertSame(server, certs.clientA, (socket) => ({
          cipher: socket.getCipher(),
          protocol: socket.getProtocol(),
          ephemeral: { ...socket.getEphemeralKeyInfo() },
          signatures: socket.getSharedSigalgs(),
          reused: socket.isSessionReused(),
          authorized: socket.authorized,
          authorizationError: socket.authorizationError,
          alpn: socket.alpnProtocol,
          servername: socket.servername,
          encrypted: socket.encrypted,
          secureConnecting: socket.secureConnecting,
          connecting: socket.connecting,
          pending: socket.pending,
          readyState: socket.readyState,
          finished: socket.getFinished().length,
          peerFinished: socket.getPeerFinished().length,
          remoteAddress: socket.remoteAddress,
          remoteFamily: socket.remoteFamily,
          remotePort: socket.remotePort,
          localAddress: socket.localAddress,
          addressKeys: Object.keys(socket.address()),
          allowHalfOpen: socket.allowHalfOpen,
          readableHighWaterMark: socket.readableHighWaterMark,
          writableHighWaterMark: socket.writableHighWaterMark,
          bytesWritten: socket.bytesWritten,
          session: Buffer.isBuffer(socket.getSession()),
          ticket: Buffer.isBuffer(socket.getTLSTicket())
        }))
        assert.strictEqual(told.protocol, maxVersion)
      })

      it(`keying material is the same at both ends with ${maxVersion}`, async () => {
        const server = await peers.tlsServer({ ...certs.server, maxVersion }, (socket, peer) => {
          peer.report(socket.exportKeyingMaterial(48, 'a label'))
          socket.resume()
        })
        const socket = await secured(subject.connect({ socket: await connected(server), ca }))
        assert.ok(socket.exportKeyingMaterial(48, 'a label').equals(await server.report()))
        socket.destroy()
      })

      it(`the Finished messages are those of the other end with ${maxVersion}`, async () => {
        const server = await peers.tlsServer({ ...certs.server, maxVersion }, (socket, peer) => {
          peer.report([socket.getPeerFinished(), socket.getFinished()])
          socket.resume()
        })
        const socket = await secured(subject.connect({ socket: await connected(server), ca }))
        assert.deepStrictEqual([socket.getFinished(), socket.getPeerFinished()],
          (await server.report()).map((bytes) => Buffer.from(bytes)))
        socket.destroy()
      })
    }

    it('all of it before the handshake is node\'s', async () => {
      const server = await peers.plainServer((socket) => socket.resume())
      const answers = []
      for (const connect of [tls.connect, subject.connect]) {
        const socket = connect({ socket: await connected(server), ca })
        answers.push({
          authorized: socket.authorized,
          authorizationError: socket.authorizationError,
          alpn: socket.alpnProtocol,
          servername: socket.servername,
          encrypted: socket.encrypted,
          secureConnecting: socket.secureConnecting,
          connecting: socket.connecting,
          pending: socket.pending,
          readyState: socket.readyState,
          destroyed: socket.destroyed,
          readable: socket.readable,
          writable: socket.writable,
          certificate: socket.getPeerCertificate(),
          x509: socket.getPeerX509Certificate(),
          cipher: socket.getCipher(),
          protocol: socket.getProtocol(),
          ephemeral: { ...socket.getEphemeralKeyInfo() },
          finished: socket.getFinished(),
          peerFinished: socket.getPeerFinished(),
          session: socket.getSession(),
          ticket: socket.getTLSTicket(),
          reused: socket.isSessionReused(),
          signatures: socket.getSharedSigalgs()
        })
        assert.throws(() => socket.exportKeyingMaterial(16, 'label'),
          { code: 'ERR_TLS_INVALID_STATE' })
        socket.destroy()
      }
      assert.deepStrictEqual(answers[1], answers[0])
    })

    it('all of it after the close is node\'s', async () => {
      const server = await peers.tlsServer(certs.server)
      const answers = []
      for (const connect of [tls.connect, subject.connect]) {
        const socket = await secured(connect({ socket: await connected(server), ca }))
        socket.destroy()
        await closed(socket)
        answers.push({
          authorized: socket.authorized,
          encrypted: socket.encrypted,
          connecting: socket.connecting,
          pending: socket.pending,
          readyState: socket.readyState,
          certificate: socket.getPeerCertificate(),
          x509: socket.getPeerX509Certificate(),
          cipher: socket.getCipher(),
          protocol: socket.getProtocol(),
          ephemeral: socket.getEphemeralKeyInfo(),
          finished: socket.getFinished(),
          peerFinished: socket.getPeerFinished(),
          session: socket.getSession(),
          ticket: socket.getTLSTicket(),
          reused: socket.isSessionReused(),
          signatures: socket.getSharedSigalgs(),
          remoteAddress: socket.remoteAddress,
          localPort: socket.localPort,
          address: { ...socket.address() }
        })
      }
      assert.deepStrictEqual(answers[1], answers[0])
    })

    it('the TLS socket is an instance of what drivers ask for', async () => {
      const server = await peers.tlsServer(certs.server)
      const socket = subject.connect({ socket: await connected(server), ca })
      assert.ok(socket instanceof tls.TLSSocket)
      assert.ok(socket instanceof subject.tls.TLSSocket)
      assert.ok(socket instanceof require('node:net').Socket)
      assert.ok(socket instanceof require('node:stream').Duplex)
      assert.strictEqual(Object.hasOwn(socket, 'encrypted'), true)
      socket.destroy()
    })
  })
})
