'use strict'

const assert = require('node:assert')
const { once } = require('node:events')
const net = require('node:net')

const certs = require('../support/certs')
const { duplexOver } = require('../support/duplexes')
const { usePeers } = require('../support/peers')
const { closed, connected, secured } = require('../support/sockets')
const { eachSubject } = require('../support/subjects')
const { traceOf } = require('../support/trace')

const { ca } = certs

describe('a raw socket destroyed underneath', () => {
  const peers = usePeers()

  eachSubject((subject) => {
    const stages = {
      'in the tick of the upgrade': () => {},
      'before the answer to the ClientHello': () => new Promise(setImmediate),
      'in secureConnect': secured,
      'after data': async (socket) => {
        await secured(socket)
        socket.write('ping')
        await once(socket, 'data')
      },
      'after end()': async (socket) => {
        await secured(socket)
        socket.end('last')
      },
      'after destroy()': async (socket) => {
        await secured(socket)
        socket.destroy()
      }
    }
    const ways = {
      'raw.destroy()': [(raw) => raw, (raw) => raw.destroy()],
      'raw.resetAndDestroy()': [(raw) => raw, (raw) => raw.resetAndDestroy()],
      'duplex.destroy()': [duplexOver, (raw) => raw.destroy()]
    }
    for (const [stage, reach] of Object.entries(stages)) {
      for (const [way, [over, destroy]] of Object.entries(ways)) {
        it(`by ${way} ${stage} closes the TLS socket, which stays safe to use`, async () => {
          const server = await peers.tlsServer(certs.server)
          const raw = over(await connected(server))
          const errors = []
          const socket = subject.connect({ socket: raw, ca })
          socket.on('error', (error) => errors.push(error.code))
          const done = closed(socket)
          await reach(socket, raw)
          destroy(raw)
          const hadError = await done
          assert.strictEqual(socket.destroyed, true)
          if (!subject.native && stage === 'after end()') {
            // The close_notify that node cannot write becomes an error, in some
            // versions after 'close'; nothing should come after 'close'.
            return
          }
          assert.deepStrictEqual([hadError, errors], [false, []])
          await useAfterClose(socket, stage === 'after end()')
          assert.deepStrictEqual(errors, [])
        })
      }
    }

    it('while it still connects closes the TLS socket', async () => {
      const server = await peers.tlsServer(certs.server)
      const raw = net.connect({ port: server.port, host: '127.0.0.1' })
      const events = await traceOf(subject, async ({ connect, trace }) => {
        trace.watch('raw', raw)
        trace.watch('tls', connect({ socket: raw, ca }))
        raw.destroy()
        await trace.closed()
      })
      assert.deepStrictEqual(events, ['raw.close(false)', 'tls.close(false)'])
    })
  })
})

/** All that a driver may still call: nothing throws, nothing is emitted. */
async function useAfterClose (socket, ended) {
  const told = await new Promise((resolve) => socket.write('late', resolve))
  assert.strictEqual(told.code,
    ended ? 'ERR_STREAM_WRITE_AFTER_END' : 'ERR_STREAM_DESTROYED')
  socket.end()
  socket.destroy()
  socket.destroySoon()
  socket.pause()
  socket.resume()
  socket.setKeepAlive(true)
  socket.setNoDelay(true)
  socket.setTimeout(0)
  socket.ref()
  socket.unref()
  socket.cork()
  socket.uncork()
  for (const getter of ['getPeerCertificate', 'getCertificate', 'getCipher',
    'getProtocol', 'getSession', 'getTLSTicket', 'isSessionReused', 'getFinished',
    'getPeerFinished', 'getEphemeralKeyInfo', 'getSharedSigalgs',
    'getPeerX509Certificate', 'getX509Certificate']) {
    assert.ok([null, undefined, false].includes(socket[getter]()) ||
      typeof socket[getter]() === 'object', getter)
  }
  assert.strictEqual(socket.remoteAddress, undefined)
  assert.strictEqual(socket.readyState, 'closed')
  await new Promise(setImmediate)
}
