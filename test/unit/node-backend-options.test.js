'use strict'

const assert = require('node:assert/strict')
const { subscribe, unsubscribe } = require('node:diagnostics_channel')
const { once } = require('node:events')
const net = require('node:net')

const certs = require('../support/certs')
const { failure } = require('../support/sockets')
const { host, visitor, withServer } = require('../support/with-server')
const backend = require('../../lib/node-backend')

const { connect } = backend
const { ca } = certs
const visit = visitor(connect)

describe('the node backend', () => {
  let before
  beforeEach(() => {
    backend.clear()
    backend.configure({
      contexts: { max: 256 }, sessions: { enabled: true, perPeer: 8 }
    })
    before = backend.stats()
  })

  /** What has been added to a count since the test began. */
  const added = (group, name) => backend.stats()[group][name] - before[group][name]

  describe('options of ours', () => {
    it('are checked before anything is opened', () => {
      for (const options of [{ singleUse: 1 }, { transport: 'x' },
        { handshakeTimeout: -1 }, { offload: true }, { sessionReuse: null }]) {
        assert.throws(() => connect({ port: 1, host, ...options }),
          /options\./)
      }
      assert.equal(added('connections', 'opened'), 0)
    })

    it('cannot demand the fd transport', () => {
      assert.throws(() => connect({ port: 1, host, transport: 'fd' }),
        { code: 'ERR_EAGER_TLS_TRANSPORT' })
    })

    it('limit the time of the handshake', async () => {
      const server = net.createServer((peer) => {
        peer.on('error', () => {})
        peer.resume()
      })
      server.listen(0, host)
      await once(server, 'listening')
      const socket = connect({
        port: server.address().port, host, ca, handshakeTimeout: 20
      })
      assert.equal(backend.stats().connections.handshaking, 1)
      const error = await failure(socket)
      assert.equal(error.code, 'ERR_TLS_HANDSHAKE_TIMEOUT')
      assert.equal(backend.stats().connections.handshaking, 0)
      server.close()
    })

    it('act on the raw socket of an upgrade', () =>
      withServer({}, async (port) => {
        const raw = net.connect(port, host)
        await once(raw, 'connect')
        const calls = []
        raw.setNoDelay = (...args) => calls.push(['setNoDelay', ...args])
        raw.setKeepAlive = (...args) => calls.push(['setKeepAlive', ...args])
        const socket = connect({
          socket: raw,
          host,
          ca,
          noDelay: true,
          keepAlive: true,
          keepAliveInitialDelay: 5,
          timeout: 60_000
        })
        assert.deepEqual(calls.slice(0, 2),
          [['setKeepAlive', true, 5], ['setNoDelay', true]])
        assert.equal(socket.timeout, 60_000)
        socket.destroy()
        await once(socket, 'close')
      }))
  })

  it('does not start over plaintext that nobody has read', async () => {
    const server = net.createServer((peer) => {
      peer.on('error', () => {})
      peer.write('leftover')
      peer.on('data', () => assert.fail('the handshake was started'))
    })
    server.listen(0, host)
    await once(server, 'listening')
    const raw = net.connect(server.address().port, host)
    await once(raw, 'readable')
    const events = []
    raw.on('close', () => events.push('raw'))
    const socket = connect({ socket: raw, host, ca })
    socket.on('close', () => events.push('TLS'))
    socket.on('data', () => assert.fail('plaintext was delivered'))
    const error = await failure(socket)
    assert.equal(error.code, 'ERR_EAGER_TLS_LEFTOVER_PLAINTEXT')
    assert.match(error.message, /^8 bytes/)
    assert.equal(raw.destroyed, true)
    backend.clear()
    assert.equal(backend.stats().contexts.live, before.contexts.live)
    server.close()
    await once(server, 'close')
  })

  it('tells of raw sockets that have ended or were destroyed', async () => {
    const server = net.createServer((peer) => peer.end())
    server.listen(0, host)
    await once(server, 'listening')
    const { port } = server.address()
    const ended = net.connect({ port, host, allowHalfOpen: true })
    ended.resume()
    await once(ended, 'end')
    const destroyed = net.connect(port, host)
    destroyed.destroy()
    for (const raw of [ended, destroyed]) {
      assert.equal((await failure(connect({ socket: raw, ca }))).code,
        'ECONNRESET')
    }
    server.close()
  })

  it('tells of its handshakes', () => withServer({}, async (port) => {
    const messages = []
    const onMessage = (message) => messages.push(message)
    subscribe('eager-tls:handshake', onMessage)
    await visit(port, { servername: 'localhost' })
    await visit(port, { servername: 'localhost' })
    const socket = connect({ port, host, ca: certs.otherCa })
    const error = await failure(socket)
    unsubscribe('eager-tls:handshake', onMessage)
    assert.equal(messages.length, 3)
    const [first, second, third] = messages
    assert.deepEqual({ ...first, durationMs: 0 }, {
      servername: 'localhost',
      protocol: 'TLSv1.3',
      cipher: 'TLS_AES_256_GCM_SHA384',
      reused: false,
      backend: 'node',
      transport: 'node',
      durationMs: 0,
      error: null
    })
    assert.equal(second.reused, true)
    assert.equal(third.error, error)
    assert.equal(third.protocol, null)
  }))

  it('has statistics of the agreed shape', () => {
    const stats = backend.stats()
    assert.deepEqual(Object.keys(stats), ['backend', 'openssl', 'contexts',
      'connections', 'sessions', 'offload', 'fallbacks'])
    assert.equal(stats.backend, 'node')
    assert.equal(stats.openssl, process.versions.openssl)
    assert.deepEqual(Object.keys(stats.contexts), ['live', 'cached',
      'singleUse', 'created', 'hits', 'misses', 'evicted'])
    assert.deepEqual(Object.keys(stats.connections), ['live', 'opened',
      'handshaking', 'fd', 'stream'])
    assert.deepEqual(Object.keys(stats.sessions), ['stored', 'peers',
      'offered', 'resumed', 'rejected'])
    assert.deepEqual(stats.offload, { tasks: 0, inFlight: 0 })
    assert.equal(stats.fallbacks, stats.connections.opened)
    assert.notEqual(backend.stats(), stats)
  })
})
