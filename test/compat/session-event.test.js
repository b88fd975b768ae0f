'use strict'

/** When 'session' comes, and what may be done in it. */

const assert = require('node:assert')
const { once } = require('node:events')

const certs = require('../support/certs')
const { duplexOver } = require('../support/duplexes')
const { usePeers } = require('../support/peers')
const { connected, take } = require('../support/sockets')
const { eachSubject, subjects } = require('../support/subjects')
const { sameTrace, traceOf } = require('../support/trace')

const { ca } = certs

const NODE_MAJOR = Number(process.versions.node.split('.', 1)[0])

describe("the event 'session'", () => {
  const peers = usePeers()
  // Speaks first, in the tick in which it is secure itself.
  const greeting = (version) => peers.tlsServer({
    ...certs.server, minVersion: version, maxVersion: version
  }, (socket) => socket.write('welcome'))

  /** The same events with each subject, `session` among them. */
  const sameEvents = (server, act, options = {}) =>
    sameTrace(async ({ subject, connect, trace }) => {
      const socket = trace.watch('tls', connect({
        socket: await connected(server),
        ca,
        ...(subject.kind === 'eager' ? { sessionReuse: false } : {}),
        ...options
      }))
      await act(socket)
      socket.destroy()
      await trace.closed()
    }, { ignore: [] })

  it('comes between secureConnect and secure with TLS 1.2', async () => {
    const events = await sameEvents(await greeting('TLSv1.2'), (socket) => take(socket, 7))
    assert.deepStrictEqual(events, ['tls.secureConnect', 'tls.session', 'tls.secure',
      'tls.data(7)', 'tls.close(false)'])
  })

  it('comes with TLS 1.3 where the ticket came: before or after data', async () => {
    const events = await sameEvents(await greeting('TLSv1.3'), async (socket) => {
      await Promise.all([take(socket, 7), twoSessions(socket)])
    })
    assert.deepStrictEqual(events.toSorted(), ['tls.close(false)', 'tls.data(7)',
      'tls.secure', 'tls.secureConnect', 'tls.session', 'tls.session'])
  })

  it('comes with TLS 1.3 even if the data in front of it made somebody close', async () => {
    await sameEvents(await greeting('TLSv1.3'), async (socket) => {
      socket.once('data', () => socket.destroy())
      await once(socket, 'close')
    })
  })

  // Where node:tls serves us, this package listens from the start itself.
  for (const subject of subjects().filter(({ kind, native }) => native || kind === 'node')) {
    it(`does not come, with TLS 1.2 and ${subject.name}, for who listens too late`, async () => {
      const server = await greeting('TLSv1.2')
      const events = await traceOf(subject, async ({ connect, trace }) => {
        const socket = connect({ socket: await connected(server), ca })
        socket.once('secureConnect', () => trace.watch('tls', socket))
        await take(socket, 7)
        socket.destroy()
        await trace.closed()
      }, { ignore: [] })
      assert.deepStrictEqual(events, ['tls.data(7)', 'tls.close(false)'])
    })
  }

  it('does not come when a session is resumed, unless with a new ticket', async () => {
    for (const version of ['TLSv1.2', 'TLSv1.3']) {
      const server = await greeting(version)
      let session
      await sameEvents(server, async (socket) => {
        socket.on('session', (one) => { session = one })
        await Promise.all([take(socket, 7), once(socket, 'session')])
      })
      const events = await sameEvents(server, async (socket) => {
        await take(socket, 7)
        assert.strictEqual(socket.isSessionReused(), true)
      }, { session })
      assert.deepStrictEqual(events,
        ['tls.secureConnect', 'tls.secure', 'tls.data(7)', 'tls.close(false)'])
    }
  })

  eachSubject((subject) => {
    for (const version of ['TLSv1.2', 'TLSv1.3']) {
      for (const [name, over] of [['a socket', (raw) => raw], ['a Duplex', duplexOver]]) {
        // Row "writes in 'session'" of docs/compat.md.
        it(`what is written in it over ${name} with ${version} arrives`, async () => {
          const server = await peers.tlsServer({
            ...certs.server, minVersion: version, maxVersion: version
          })
          const socket = subject.connect({ socket: over(await connected(server)), ca })
          socket.once('session', () => socket.write('first', () =>
            setImmediate(() => socket.write('then'))))
          if (!subject.native && NODE_MAJOR < 24 && version === 'TLSv1.3') {
            socket.resume()
            const [error] = await once(socket, 'error')
            assert.match(error.code, /BAD_RECORD_MAC/)
            socket.destroy()
            return
          }
          assert.strictEqual(String(await take(socket, 9)), 'firstthen')
        })
      }
    }
  })
})

function twoSessions (socket) {
  let count = 0
  return new Promise((resolve) => socket.on('session', () => ++count === 2 && resolve()))
}
