'use strict'

const assert = require('node:assert')
const { execFile } = require('node:child_process')
const { once } = require('node:events')
const path = require('node:path')
const tls = require('node:tls')
const { promisify } = require('node:util')

const certs = require('../support/certs')
const { usePeers } = require('../support/peers')
const { closed, connected, failure, secured } = require('../support/sockets')
const { eachSubject } = require('../support/subjects')
const { uncaughtDuring } = require('../support/uncaught')
const { REFUSES_ADDRESS_AS_SERVERNAME } = require('../support/versions')

const run = promisify(execFile)
const { ca } = certs

describe('the server name', () => {
  const peers = usePeers()

  eachSubject((subject) => {
    /** Upgrades with these options; what was checked and what was sent. */
    async function namesOf (server, raw, options) {
      let checked
      const socket = await secured(subject.connect({
        socket: raw,
        ca,
        checkServerIdentity: (name) => { checked = name },
        ...options
      }))
      socket.end()
      const { servername } = await server.connection()
      return { checked, sent: servername }
    }

    describe('comes from servername, host, the raw socket and localhost, in this order', () => {
      const rows = [
        [{ servername: 'hosta.test' }, 'hosta.test', 'hosta.test'],
        [{ servername: 'hosta.test', host: 'hostb.test' }, 'hosta.test', 'hosta.test'],
        [{ servername: 'hosta.test', host: '127.0.0.1' }, 'hosta.test', 'hosta.test'],
        [{ host: 'hosta.test' }, 'hosta.test', false],
        [{ host: 'hosta.test', servername: '' }, 'hosta.test', false],
        [{ host: '127.0.0.1' }, '127.0.0.1', false],
        [{ host: '127.0.0.1', servername: '' }, '127.0.0.1', false],
        [{ host: '::1' }, '::1', false],
        [{ servername: '' }, 'localhost', false],
        [{}, 'localhost', false]
      ]
      for (const [options, checked, sent] of rows) {
        it(`with ${JSON.stringify(options)} checks ${checked} and sends ${sent || 'none'}`, async () => {
          const server = await peers.tlsServer(certs.server)
          const raw = await connected(server)
          assert.deepStrictEqual(await namesOf(server, raw, options), { checked, sent })
        })
      }

      it('takes the name by which the raw socket was connected', async () => {
        const server = await peers.tlsServer(certs.server)
        const raw = await connected(server, {
          host: 'hostb.test',
          lookup: (name, options, callback) => options.all
            ? callback(null, [{ address: '127.0.0.1', family: 4 }])
            : callback(null, '127.0.0.1', 4)
        })
        assert.deepStrictEqual(await namesOf(server, raw, {}),
          { checked: 'hostb.test', sent: false })
      })
    })

    it('never leaks from one connection into the next over one context', async () => {
      const server = await peers.tlsServer(certs.server)
      for (let round = 0; round < 6; round++) {
        const name = round % 2 === 0 ? 'hosta.test' : 'hostb.test'
        const raw = await connected(server)
        const names = await namesOf(server, raw, round % 3 === 2 ? {} : { servername: name })
        assert.deepStrictEqual(names, round % 3 === 2
          ? { checked: 'localhost', sent: false }
          : { checked: name, sent: name })
      }
    })

    it('stays with its own connection when many upgrade at once', async () => {
      const server = await peers.tlsServer(certs.server, (socket, peer) => {
        socket.end(String(socket.servername))
      })
      const names = Array.from({ length: 12 }, (_, index) => `host${index}.test`)
      const raws = await Promise.all(names.map(() => connected(server)))
      const seen = await Promise.all(names.map(async (servername, index) => {
        let checked
        const socket = subject.connect({
          socket: raws[index],
          ca,
          servername,
          checkServerIdentity: (name) => { checked = name }
        })
        const [told] = await once(socket, 'data')
        socket.destroy()
        return [checked, String(told)]
      }))
      assert.deepStrictEqual(seen, names.map((name) => [name, name]))
    })

    it('selects the certificate of a server with many names', async () => {
      const server = await peers.tlsServer({
        ...certs.server,
        contexts: { 'hosta.test': certs.hosta, 'hostb.test': certs.hostb }
      })
      for (const servername of ['hosta.test', 'hostb.test', 'hosta.test']) {
        const raw = await connected(server)
        const socket = await secured(subject.connect({ socket: raw, ca, servername }))
        assert.strictEqual(socket.getPeerCertificate().subject.CN, servername)
        assert.strictEqual(socket.authorized, true)
        socket.destroy()
      }
    })

    it('gives the same ALPN, identity check and strictness to no other connection', async () => {
      const server = await peers.tlsServer({
        ...certs.hosta,
        ALPNProtocols: ['one', 'two']
      })
      const strict = subject.connect({
        socket: await connected(server), ca, servername: 'hostb.test', ALPNProtocols: ['one']
      })
      assert.strictEqual((await failure(strict)).code, 'ERR_TLS_CERT_ALTNAME_INVALID')

      const lax = await secured(subject.connect({
        socket: await connected(server),
        ca,
        servername: 'hostb.test',
        ALPNProtocols: ['two'],
        rejectUnauthorized: false
      }))
      assert.strictEqual(lax.alpnProtocol, 'two')
      assert.strictEqual(lax.authorized, false)
      assert.strictEqual(lax.authorizationError, 'ERR_TLS_CERT_ALTNAME_INVALID')
      lax.destroy()

      const own = await secured(subject.connect({
        socket: await connected(server),
        ca,
        servername: 'hostb.test',
        checkServerIdentity: () => undefined
      }))
      assert.strictEqual(own.authorized, true)
      assert.strictEqual(own.alpnProtocol, false)
      own.destroy()

      const again = subject.connect({
        socket: await connected(server), ca, servername: 'hostb.test'
      })
      assert.strictEqual((await failure(again)).code, 'ERR_TLS_CERT_ALTNAME_INVALID')
    })

    describe('when it is an address', () => {
      const rows = [
        ['127.0.0.1', null],
        ['::1', null],
        ['0:0:0:0:0:0:0:1', null],
        ['127.0.0.2', 'ERR_TLS_CERT_ALTNAME_INVALID'],
        ['::2', 'ERR_TLS_CERT_ALTNAME_INVALID'],
        ['::ffff:127.0.0.1', 'ERR_TLS_CERT_ALTNAME_INVALID'],
        ['localhost', 'ERR_TLS_CERT_ALTNAME_INVALID'],
        [undefined, 'ERR_TLS_CERT_ALTNAME_INVALID']
      ]
      for (const [host, code] of rows) {
        it(`host ${host} against address SANs ${code ? 'fails' : 'matches'}`, async () => {
          const server = await peers.tlsServer(certs.ipOnly)
          const socket = subject.connect({ socket: await connected(server), ca, host })
          if (code === null) {
            await secured(socket)
            assert.strictEqual(socket.authorized, true)
            socket.destroy()
            return
          }
          const error = await failure(socket)
          assert.strictEqual(error.code, code)
          assert.strictEqual(error.host, host ?? 'localhost')
          assert.strictEqual(error.cert.subject.CN, 'address')
        })
      }

      it('judges an address with a zone as tls.checkServerIdentity does', async () => {
        const server = await peers.tlsServer(certs.ipOnly)
        const socket = await secured(subject.connect({
          socket: await connected(server), ca, host: '::1%lo', rejectUnauthorized: false
        }))
        const verdict = tls.checkServerIdentity('::1%lo', socket.getPeerCertificate())
        assert.strictEqual(socket.authorizationError ?? undefined, verdict?.code)
        socket.destroy()
      })

      it('is warned of at most once as servername', async function () {
        this.timeout(10000)
        const server = await peers.tlsServer(certs.ipOnly)
        const { threw, warnings, authorized } = await inOwnProcess(subject, server.port)
        if (REFUSES_ADDRESS_AS_SERVERNAME) {
          assert.strictEqual(threw, 'ERR_INVALID_ARG_VALUE')
          return
        }
        assert.deepStrictEqual(authorized, [true, true])
        const expected = ['DEP0123']
        assert.deepStrictEqual(warnings, warnings.length === 0 ? [] : expected)
        const sent = [(await server.connection()).servername,
          (await server.connection()).servername]
        if (!subject.native) {
          assert.deepStrictEqual(warnings, expected)
        } else {
          // Row "addresses in SNI" of docs/compat.md: RFC 6066 forbids them.
          assert.deepStrictEqual(sent, [false, false])
        }
      })
    })

    describe('and the identity check', () => {
      it('rejects by default a chain that is not trusted', async () => {
        const server = await peers.tlsServer(certs.fromOther)
        const error = await failure(subject.connect({ socket: await connected(server), ca }))
        assert.strictEqual(error.code, 'UNABLE_TO_VERIFY_LEAF_SIGNATURE')
      })

      it('rejects by default a wrong name, with reason, host and certificate', async () => {
        const server = await peers.tlsServer(certs.wrong)
        const error = await failure(subject.connect({
          socket: await connected(server), ca, host: 'localhost'
        }))
        assert.strictEqual(error.code, 'ERR_TLS_CERT_ALTNAME_INVALID')
        assert.strictEqual(error.host, 'localhost')
        assert.match(error.reason, /^Host: localhost\. is not in the cert's altnames/)
        assert.match(error.message, /^Hostname\/IP does not match certificate's altnames/)
        assert.strictEqual(error.cert.subject.CN, 'other.example')
      })

      it('calls back once with the name and the certificate with its issuers', async () => {
        const server = await peers.tlsServer(certs.server)
        const calls = []
        const socket = await secured(subject.connect({
          socket: await connected(server),
          ca,
          servername: 'hosta.test',
          checkServerIdentity (...args) { calls.push(args) }
        }))
        assert.strictEqual(calls.length, 1)
        assert.strictEqual(calls[0].length, 2)
        const [name, certificate] = calls[0]
        assert.strictEqual(name, 'hosta.test')
        assert.ok(Buffer.isBuffer(certificate.raw))
        assert.ok(certificate.raw.equals(socket.getPeerCertificate().raw))
        assert.strictEqual(certificate.issuerCertificate.issuerCertificate,
          certificate.issuerCertificate)
        socket.destroy()
      })

      it('is not called for a chain that is not trusted', async () => {
        const server = await peers.tlsServer(certs.fromOther)
        let calls = 0
        const socket = await secured(subject.connect({
          socket: await connected(server),
          ca,
          rejectUnauthorized: false,
          checkServerIdentity: () => { calls++ }
        }))
        assert.strictEqual(calls, 0)
        assert.strictEqual(socket.authorizationError, 'UNABLE_TO_VERIFY_LEAF_SIGNATURE')
        socket.destroy()
      })

      it('emits the very error that it returned', async () => {
        const server = await peers.tlsServer(certs.server)
        const mine = Object.assign(new Error('pinned elsewhere'), { code: 'E_PIN' })
        const socket = subject.connect({
          socket: await connected(server), ca, checkServerIdentity: () => mine
        })
        assert.strictEqual(await failure(socket), mine)
        assert.strictEqual(socket.authorized, false)
        assert.strictEqual(socket.authorizationError, 'E_PIN')
      })

      it('stores the message as authorizationError when the error has no code', async () => {
        const server = await peers.tlsServer(certs.server)
        const socket = await secured(subject.connect({
          socket: await connected(server),
          ca,
          rejectUnauthorized: false,
          checkServerIdentity: () => new Error('not mine')
        }))
        assert.strictEqual(socket.authorized, false)
        assert.strictEqual(socket.authorizationError, 'not mine')
        socket.destroy()
      })

      it('never secures a connection when it throws', async () => {
        const server = await peers.tlsServer(certs.server)
        const mine = new Error('thrown by the check')
        let secure = false
        const seen = []
        const caught = await uncaughtDuring(async (caught) => {
          const socket = subject.connect({
            socket: await connected(server),
            ca,
            checkServerIdentity: () => { throw mine }
          })
          socket.on('secureConnect', () => { secure = true })
          socket.on('error', (error) => seen.push(error))
          while (caught.length + seen.length === 0) await new Promise(setImmediate)
          socket.destroy()
          await closed(socket)
        })
        assert.deepStrictEqual([...caught, ...seen], [mine])
        assert.strictEqual(secure, false)
      })
    })
  })
})

/** Connects twice with an address as servername; the process's warnings. */
async function inOwnProcess (subject, port) {
  const module = subject.kind === 'node' ? 'node:tls' : path.join(__dirname, '../..')
  const script = `
    const { connect } = require(${JSON.stringify(module)})
    const warnings = []
    const authorized = []
    process.on('warning', (warning) => warnings.push(warning.code))
    const once = (next) => {
      const socket = connect({
        port: ${port}, host: '127.0.0.1', ca: process.env.TEST_CA, servername: '127.0.0.1'
      }, () => {
        authorized.push(socket.authorized)
        socket.end()
      })
      socket.resume()
      socket.on('close', next)
    }
    try {
      once(() => once(() => console.log(JSON.stringify({ warnings, authorized }))))
    } catch (error) {
      console.log(JSON.stringify({ threw: error.code }))
    }
  `
  const { stdout } = await run(process.execPath, ['-e', script],
    { env: { ...process.env, TEST_CA: ca } })
  return JSON.parse(stdout)
}
