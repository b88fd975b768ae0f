'use strict'

/**
 * Wrong values for every option, getters before there is a connection and
 * after it, callbacks that throw: node's answer, or a better one that is a row
 * of docs/compat.md; never a crash, and nothing is left behind.
 */

const assert = require('node:assert')
const { spawn } = require('node:child_process')
const { once } = require('node:events')
const net = require('node:net')
const path = require('node:path')
const { text } = require('node:stream/consumers')
const tls = require('node:tls')

const certs = require('../support/certs')
const { usePeers } = require('../support/peers')
const { closed, connected, failure, secured, take } = require('../support/sockets')
const { subjects } = require('../support/subjects')
const { uncaughtDuring } = require('../support/uncaught')

const { ca } = certs
const CHILD = path.join(__dirname, '../support/bad-options.js')
const major = Number(process.versions.node.split('.')[0])
const subject = subjects().find(({ kind }) => kind === 'eager')

/** One run of the child: the rows it printed, and whether it came to its end. */
async function runChild (kind, skipped) {
  const child = spawn(process.execPath, ['--no-warnings', CHILD, kind, String(skipped)])
  child.stderr.resume()
  const [output, [status]] = await Promise.all([text(child.stdout), once(child, 'exit')])
  const rows = output.split('\n').filter(Boolean).map((line) => JSON.parse(line))
  return { done: status === 0, rows }
}

/** All rows; where a case has ended the process, 'aborts' is its outcome. */
async function outcomes (kind) {
  const found = []
  for (;;) {
    const { done, rows } = await runChild(kind, found.length)
    found.push(...rows)
    if (done) return found
    if (!rows.at(-1)?.[3].startsWith('uncaught')) found.push([null, null, null, 'aborts'])
  }
}

// Where the answer is not node's: [option, node's answer, ours].
const ARG_TYPE = (name) => new RegExp(`^throws TypeError ERR_INVALID_ARG_TYPE The "${name}" `)
const INTENDED = [
  // Row "`socket` is no Duplex".
  ['socket', /^(throws TypeError undefined|uncaught) \S+ is not a function$/,
    ARG_TYPE('options.socket')],
  // Row "raw sockets that have ended".
  ['socket', /^opens$/, /^opens ECONNRESET$/],
  // Row "malformed ALPN".
  ['ALPNProtocols', /^aborts$/, /^throws TypeError ERR_INVALID_ARG_VALUE /],
  // Row "checkServerIdentity and minDHSize of wrong types".
  ['checkServerIdentity', /ERR_INTERNAL_ASSERTION/, ARG_TYPE('options.checkServerIdentity')],
  ['minDHSize', /ERR_INTERNAL_ASSERTION|Cannot convert/,
    /^throws (TypeError ERR_INVALID_ARG_TYPE|RangeError ERR_OUT_OF_RANGE) The .*"options.minDHSize" /],
  // Row "servername that cannot be one".
  ['servername', /^throws TypeError undefined Cannot convert /, ARG_TYPE('name')],
  ['servername', /^opens$/, /^throws Error ERR_SSL_SSL3_EXT_INVALID_SERVERNAME /],
  // Row "numbers that end the process".
  ['sessionTimeout', /^aborts$/, /^opens$/]
]

const OWN = ['handshakeTimeout', 'offload', 'sessionReuse', 'singleUse', 'transport']

describe('bad input', () => {
  const peers = usePeers()

  before(function () {
    // node's own sockets then.
    if (!subject?.native) this.skip()
  })

  describe('thirty wrong values for each option', function () {
    this.timeout(120000)
    let ours

    before(async () => {
      ours = await outcomes('eager')
    })

    it('are answered as by node, or as docs/compat.md says', async () => {
      const nodes = await outcomes('node')
      const expected = nodes.map((row) => row[3])
      const mine = ours.filter(([, option]) => !OWN.includes(option))
      assert.strictEqual(mine.length, expected.length)
      assert.ok(mine.length > 2000)
      const different = []
      mine.forEach(([kind, option, value, answer], index) => {
        if (answer === expected[index]) return
        const intended = INTENDED.some(([name, theirs, own]) => name === option &&
          theirs.test(expected[index].split('\n')[0]) && own.test(answer))
        if (!intended) different.push([kind, option, value, expected[index], answer])
      })
      assert.deepStrictEqual(different, [])
    })

    it('end no process, come uncaught, or leave anything behind', () => {
      assert.deepStrictEqual(
        ours.filter(([, , , answer]) => /^aborts|^uncaught|, leaves /.test(answer)), [])
    })

    it('of this package\'s own options throw at once', () => {
      for (const option of OWN) {
        const rows = ours.filter((row) => row[1] === option)
        const refused = rows.filter((row) =>
          /^throws (TypeError|RangeError) ERR_(INVALID_ARG_TYPE|INVALID_ARG_VALUE|OUT_OF_RANGE) /.test(row[3]))
        assert.ok(rows.length > 30)
        const taken = rows.filter((row) => !refused.includes(row)).map((row) => row[2]).sort()
        const right = {
          handshakeTimeout: ['-0', '1', 'undefined'],
          offload: ['undefined'],
          sessionReuse: ['false', 'true', 'undefined'],
          singleUse: ['false', 'true', 'undefined'],
          transport: ['undefined']
        }
        assert.deepStrictEqual(taken, right[option], option)
      }
    })
  })

  describe('what is asked of a socket', () => {
    const METHODS = {
      getPeerCertificate: [true],
      getPeerX509Certificate: [],
      getCertificate: [],
      getX509Certificate: [],
      getCipher: [],
      getProtocol: [],
      getSharedSigalgs: [],
      getFinished: [],
      getPeerFinished: [],
      getSession: [],
      getTLSTicket: [],
      isSessionReused: [],
      exportKeyingMaterial: [10, 'label', Buffer.from('x')],
      setMaxSendFragment: [512],
      address: [],
      disableRenegotiation: [],
      // node itself crashes without a handshake.
      ...(major < 24 && { getEphemeralKeyInfo: [] })
    }
    const PROPERTIES = ['alpnProtocol', 'authorizationError', 'authorized', 'bufferSize',
      'bytesRead', 'bytesWritten', 'connecting', 'destroyed', 'encrypted', 'localAddress',
      'localFamily', 'pending', 'readable', 'readyState', 'remoteAddress', 'remoteFamily',
      'remotePort', 'servername', 'timeout', 'writable']

    function interrogate (socket) {
      const answers = {}
      for (const [name, args] of Object.entries(METHODS)) {
        try {
          answers[name] = socket[name](...args)
        } catch (error) {
          answers[name] = `threw ${error.code} ${error.message}`
        }
      }
      for (const name of PROPERTIES) answers[name] = socket[name]
      return answers
    }

    it('before the raw socket is connected is answered as by node', async () => {
      const server = await peers.tlsServer(certs.server)
      const answers = []
      for (const connect of [tls.connect, subject.connect]) {
        const raw = net.connect(server.port, '127.0.0.1')
        const socket = peers.keep(connect({ socket: raw, ca }))
        answers.push(interrogate(socket))
        await secured(socket)
      }
      assert.deepStrictEqual(answers[1], answers[0])
    })

    it('after it has closed is answered as by node', async () => {
      const server = await peers.tlsServer(certs.server)
      const answers = []
      for (const connect of [tls.connect, subject.connect]) {
        const socket = await secured(connect({ socket: await connected(server), ca }))
        socket.destroy()
        await closed(socket)
        answers.push(interrogate(socket))
      }
      const [node, own] = answers
      // Row "calls after the end" of docs/compat.md: node has no object to call.
      assert.match(node.exportKeyingMaterial, /^threw undefined Cannot read properties of null/)
      assert.match(own.exportKeyingMaterial, /^threw ERR_TLS_INVALID_STATE /)
      assert.match(node.setMaxSendFragment, /^threw undefined Cannot read properties of null/)
      assert.strictEqual(own.setMaxSendFragment, false)
      for (const answer of answers) {
        delete answer.exportKeyingMaterial
        delete answer.setMaxSendFragment
      }
      assert.deepStrictEqual(own, node)
    })
  })

  it('is a second upgrade in the same tick: the first is destroyed, the second works', async () => {
    const server = await peers.tlsServer(certs.server)
    const raw = await connected(server)
    const first = subject.connect({ socket: raw, ca })
    const gone = once(first, 'close')
    // The server has the ClientHello of the first already, or will never get it.
    const second = subject.connect({ socket: raw, ca })
    second.on('error', () => {})
    await gone
    assert.strictEqual(first.destroyed, true)
    assert.strictEqual(raw.destroyed, false)
    second.destroy()
    await closed(second)
  })

  describe('callbacks that throw', () => {
    const mine = new Error('thrown by a callback')
    const fail = () => { throw mine }

    // Each is [options, what is done with the socket].
    const cases = {
      'the callback of connect()': [{}, () => {}, fail],
      'a listener of close': [{}, (socket) => {
        socket.on('close', fail)
        socket.once('secureConnect', () => socket.destroy())
      }],
      'a listener of error': [{}, (socket) => {
        socket.removeAllListeners('error')
        socket.on('error', fail)
        socket.once('secureConnect', () => socket.destroy(new Error('asked for')))
      }],
      'a listener of finish': [{}, (socket) => {
        socket.on('finish', fail)
        socket.once('secureConnect', () => socket.end())
      }],
      'the callback of end()': [{}, (socket) => {
        socket.once('secureConnect', () => socket.end(fail))
      }],
      'a listener of timeout': [{}, (socket) => socket.setTimeout(5, fail)],
      'onread.callback': [{ onread: { buffer: Buffer.alloc(9), callback: fail } }, (socket) => {
        socket.write('x')
      }],
      'a listener of drain': [{}, (socket) => {
        socket.on('drain', fail)
        socket.write(Buffer.alloc(1 << 17))
      }]
    }
    const own = new Set(['onread.callback'])

    for (const [name, [options, arrange, callback]] of Object.entries(cases)) {
      it(`${name} is uncaught once`, async () => {
        const server = await peers.tlsServer(certs.server)
        let socket
        const caught = await uncaughtDuring(async () => {
          const uncaught = once(process, 'uncaughtException')
          const where = own.has(name)
            ? { host: '127.0.0.1', port: server.port }
            : { socket: await connected(server) }
          socket = subject.connect({ ...where, ...options, ca }, callback)
          socket.on('error', () => {})
          arrange(socket)
          if (!own.has(name)) socket.resume()
          await uncaught
          socket.destroy()
          for (let turn = 0; turn < 3; turn++) await new Promise(setImmediate)
        })
        assert.deepStrictEqual(caught, [mine])
        assert.strictEqual(subject.tls.stats().connections.live, 0)
      })
    }

    it('checkServerIdentity destroys the socket with what it has thrown', async () => {
      const server = await peers.tlsServer(certs.server)
      const socket = subject.connect({
        socket: await connected(server), ca, checkServerIdentity: fail
      })
      assert.strictEqual(await failure(socket), mine)
      assert.strictEqual(subject.tls.stats().connections.live, 0)
    })

    it('pskCallback destroys the socket with what it has thrown', async () => {
      const server = await peers.sServer(certs.server,
        ['-psk', '00112233', '-tls1_2', '-cipher', 'PSK'])
      const socket = subject.connect({
        socket: await connected(server),
        ciphers: 'PSK',
        maxVersion: 'TLSv1.2',
        checkServerIdentity () {},
        pskCallback: fail
      })
      assert.strictEqual(await failure(socket), mine)
      assert.strictEqual(subject.tls.stats().connections.live, 0)
    })

    it('a getter of the options is a synchronous exception, and nothing is opened', () => {
      for (const name of ['ca', 'servername', 'ALPNProtocols', 'checkServerIdentity', 'socket']) {
        const options = { get [name] () { throw mine } }
        assert.throws(() => subject.tls.connect(options), mine)
      }
      subject.tls.clear()
      const { connections, contexts } = subject.tls.stats()
      assert.deepStrictEqual([connections.live, contexts.live], [0, 0])
    })
  })

  it('of connect() as a whole is refused as by node', () => {
    const calls = [[], [{}], [null], [undefined], [{ socket: null }], [true], [NaN],
      [[]], [() => {}], ['', {}], [{ port: -1 }], [{ port: 65536 }], [{ port: 'x' }]]
    for (const args of calls) {
      const answers = [tls.connect, subject.tls.connect].map((connect) => {
        let socket
        try {
          socket = connect(...args)
        } catch (error) {
          return `threw ${error.code} ${error.message}`
        }
        socket.on('error', () => {})
        socket.destroy()
        return 'returned'
      })
      assert.strictEqual(answers[1], answers[0], String(args))
    }
  })

  it('between a socket and its options throws, instead of losing these', async () => {
    const raw = await connected(await peers.tlsServer(certs.server))
    for (const wrong of ['localhost', 443, true]) {
      assert.throws(() => subject.connect(raw, wrong, { ca }),
        { code: 'ERR_INVALID_ARG_TYPE' })
    }
    // Nothing has been done to it.
    const socket = await secured(subject.connect(raw, undefined, { ca }))
    socket.destroy()
  })

  it('after which good input works', async () => {
    const server = await peers.tlsServer(certs.server)
    const socket = await secured(subject.connect({ socket: await connected(server), ca }))
    socket.write('ping')
    assert.strictEqual(String(await take(socket, 4)), 'ping')
    socket.destroy()
  })
})
