'use strict'

/**
 * Errors that come as TLS alerts, or as something that is no TLS at all. The
 * table is what OpenSSL 3 says; code, library and reason must be equal on every
 * path that an error can take.
 */

const assert = require('node:assert')

const certs = require('../support/certs')
const { duplexOver } = require('../support/duplexes')
const { usePeers } = require('../support/peers')
const { connected, failure } = require('../support/sockets')
const { eachSubject } = require('../support/subjects')

const { ca } = certs

const alerts = [
  [10, 'sslv3 alert unexpected message'],
  [20, 'sslv3 alert bad record mac'],
  [21, 'tlsv1 alert decryption failed'],
  [22, 'tlsv1 alert record overflow'],
  [30, 'sslv3 alert decompression failure'],
  [40, 'sslv3 alert handshake failure'],
  [41, 'sslv3 alert no certificate'],
  [42, 'sslv3 alert bad certificate'],
  [43, 'sslv3 alert unsupported certificate'],
  [44, 'sslv3 alert certificate revoked'],
  [45, 'sslv3 alert certificate expired'],
  [46, 'sslv3 alert certificate unknown'],
  [47, 'sslv3 alert illegal parameter'],
  [48, 'tlsv1 alert unknown ca'],
  [49, 'tlsv1 alert access denied'],
  [50, 'tlsv1 alert decode error'],
  [51, 'tlsv1 alert decrypt error'],
  [60, 'tlsv1 alert export restriction'],
  [70, 'tlsv1 alert protocol version'],
  [71, 'tlsv1 alert insufficient security'],
  [80, 'tlsv1 alert internal error'],
  [86, 'tlsv1 alert inappropriate fallback'],
  [90, 'tlsv1 alert user cancelled'],
  [100, 'tlsv1 alert no renegotiation'],
  [109, 'tlsv13 alert missing extension'],
  [110, 'tlsv1 unsupported extension'],
  [112, 'tlsv1 unrecognized name'],
  [113, 'tlsv1 bad certificate status response'],
  [115, 'tlsv1 alert unknown psk identity'],
  [116, 'tlsv13 alert certificate required'],
  [120, 'tlsv1 alert no application protocol']
]

const nonsense = [
  ['an HTTP answer', 'HTTP/1.1 403 Forbidden\r\n\r\n', 'wrong version number'],
  ['an HTML page', '<html></html>', 'wrong version number'],
  ['an SSH banner', 'SSH-2.0-OpenSSH_9.2\r\n', 'wrong version number'],
  ['an SMTP line', '220 mail.example ESMTP\r\n', 'wrong version number'],
  ['zeros', Buffer.alloc(64), 'wrong version number'],
  ['a record too long', Buffer.from('160303ffff010203', 'hex'), /^(packet|data) length too long$/],
  ['application data', Buffer.from('1703030003010203', 'hex'), 'unexpected message'],
  ['an unknown handshake message',
    Buffer.concat([Buffer.from('1603030028', 'hex'), Buffer.alloc(40, 7)]), 'unexpected message'],
  ['a ChangeCipherSpec', Buffer.from('140303000101', 'hex'), 'unexpected message'],
  ['an alert to renegotiate', Buffer.from('15030300020164', 'hex'), 'no renegotiation']
]

/** Newer OpenSSL says "ssl/tls" where the older ones say "sslv3". */
function pattern (reason) {
  if (reason instanceof RegExp) return reason
  return new RegExp(`^${reason.replace(/^sslv3/, '(sslv3|ssl/tls)')}$`)
}

function assertTlsError (error, reason) {
  assert.match(error.reason, pattern(reason))
  assert.strictEqual(error.library, 'SSL routines')
  assert.strictEqual(error.code,
    `ERR_SSL_${error.reason.toUpperCase().replaceAll(' ', '_')}`)
  assert.ok(error.message.includes(error.reason))
  assert.ok(error instanceof Error)
}

describe('alerts and nonsense', () => {
  const peers = usePeers()

  eachSubject((subject) => {
    async function errorOf (answer, over = (raw) => raw) {
      const server = await peers.plainServer((socket, peer) => {
        socket.once('data', () => socket.write(peer.options.answer))
      }, { answer })
      const raw = over(await connected(server))
      return failure(subject.connect({ socket: raw, ca }))
    }

    describe('in answer to the ClientHello', () => {
      for (const [number, reason] of alerts) {
        it(`alert ${number} is an error with code, library and reason`, async () => {
          const error = await errorOf(Buffer.from([0x15, 3, 3, 0, 2, 2, number]))
          assertTlsError(error, reason)
          assert.match(error.message, new RegExp(`SSL alert number ${number}\\b`))
        })
      }

      if (subject.native) {
        // Row "alerts that nobody knows" of docs/compat.md.
        it('an alert that nobody knows is an error, but not of this package', async () => {
          const error = await errorOf(Buffer.from([0x15, 3, 3, 0, 2, 2, 4]))
          assert.strictEqual(error.code, undefined)
          assert.strictEqual(error.library, 'SSL routines')
          assert.match(error.message, /SSL alert number 4\b/)
        })
      }

      for (const [name, answer, reason] of nonsense) {
        it(`${name} is an error with code, library and reason`, async () => {
          assertTlsError(await errorOf(answer), reason)
        })

        it(`${name} is the same error over a Duplex, in single bytes`, async () => {
          const over = (raw) => duplexOver(raw, { chunk: 1 })
          assertTlsError(await errorOf(answer, over), reason)
        })
      }

      it('a close_notify is a disconnection', async () => {
        const error = await errorOf(Buffer.from([0x15, 3, 3, 0, 2, 1, 0]))
        assert.strictEqual(error.code, 'ECONNRESET')
        assert.match(error.message, /before secure TLS connection was established/)
      })
    })

    describe('from a server that refuses the client certificate', () => {
      const rows = [
        ['none', {}, 'TLSv1.2', 'sslv3 alert handshake failure'],
        ['none', {}, 'TLSv1.3', 'tlsv13 alert certificate required'],
        ['one of an unknown CA', certs.clientStranger, 'TLSv1.2', 'tlsv1 alert unknown ca'],
        ['one of an unknown CA', certs.clientStranger, 'TLSv1.3', 'tlsv1 alert unknown ca'],
        ['an expired one', certs.expired, 'TLSv1.2', 'sslv3 alert certificate expired'],
        ['an expired one', certs.expired, 'TLSv1.3', 'sslv3 alert certificate expired']
      ]
      for (const [name, options, version, reason] of rows) {
        it(`${name}, with ${version} and a write at once, is that alert each time`, async () => {
          const server = await peers.sServer(certs.server, [
            '-Verify', '1', '-verify_return_error', '-CAfile', certs.file('ca.crt')
          ])
          for (let round = 0; round < 8; round++) {
            let secure = false
            const socket = subject.connect({
              socket: await connected(server), ca, ...options, maxVersion: version
            }, () => {
              secure = true
              socket.write('request')
            })
            assertTlsError(await failure(socket), reason)
            assert.strictEqual(secure, version === 'TLSv1.3')
          }
        })
      }

      it('hears the last flight and the first write in one segment', async () => {
        const server = await peers.tlsServer({ ...certs.server, ca, requestCert: true })
        const proxy = await peers.byteProxy(server.port)
        const socket = subject.connect({ socket: await connected(proxy), ca }, () => {
          socket.write('request')
        })
        const error = await failure(socket)
        assert.strictEqual(error.code, 'ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED')
        assert.strictEqual((await proxy.segments()).up.length, 2)
      })
    })
  })
})
