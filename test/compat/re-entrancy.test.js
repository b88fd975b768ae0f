'use strict'

/**
 * User code that acts on the connection from inside its callbacks: nothing
 * crashes, nothing comes after 'close', exceptions surface where node's do.
 */

const assert = require('node:assert')
const { AsyncLocalStorage, createHook } = require('node:async_hooks')
const { spawn } = require('node:child_process')
const { once } = require('node:events')
const net = require('node:net')

const certs = require('../support/certs')
const { duplexOver } = require('../support/duplexes')
const { usePeers } = require('../support/peers')
const { closed, connected, secured, take } = require('../support/sockets')
const { eachSubject } = require('../support/subjects')
const { uncaughtDuring } = require('../support/uncaught')

const { ca } = certs

describe('from inside a callback', () => {
  const peers = usePeers()

  eachSubject((subject) => {
    // Each arranges that `act` runs inside the callback, once.
    const places = {
      secureConnect: (socket, act) => socket.once('secureConnect', act),
      secure: (socket, act) => socket.once('secure', act),
      session: (socket, act) => socket.once('session', act),
      keylog: (socket, act) => socket.once('keylog', act),
      data: (socket, act) => socket.once('data', act),
      'the callback of a write': (socket, act) => {
        socket.once('secureConnect', () => socket.write('x', act))
      },
      'the callback of an early write': (socket, act) => socket.write('x', act),
      checkServerIdentity: (socket, act, options) => { options.act = act },
      _write: (socket, act, options, raw) => {
        const write = raw._write
        let armed = true
        raw._write = function (...args) {
          const result = write.apply(this, args)
          if (armed) {
            armed = false
            act()
          }
          return result
        }
      }
    }
    const actions = {
      'destroy()': (socket) => socket.destroy(),
      'destroy(error)': (socket) => socket.destroy(new Error('asked for')),
      'end()': (socket) => socket.end(),
      'end(data)': (socket) => socket.end('last words'),
      'write() and destroySoon()': (socket) => {
        socket.write('last words')
        socket.destroySoon()
      },
      'raw.destroy()': (socket, raw) => raw.destroy(),
      'pause() and a late destroy()': (socket) => {
        socket.pause()
        setImmediate(() => socket.destroy())
      },
      'gc() and destroy()': (socket) => {
        global.gc?.()
        socket.destroy()
      }
    }
    const transports = { 'a socket': (raw) => raw, 'a Duplex': duplexOver }

    // Row "closing inside a callback" of docs/compat.md.
    // node:tls itself crashes in some of these (raw.destroy() in secureConnect).
    const closing = subject.native ? Object.entries(transports) : []
    for (const [over, wrap] of closing) {
      for (const [place, arrange] of Object.entries(places)) {
        if (place === '_write' && over === 'a socket') continue
        for (const [action, act] of Object.entries(actions)) {
          it(`of ${place} over ${over}, ${action} closes it for good`, async () => {
            const server = await peers.tlsServer(certs.server)
            const raw = wrap(await connected(server))
            raw.on('error', () => {})
            const options = {}
            const late = []
            let over = false
            const socket = subject.connect({
              socket: raw,
              ca,
              checkServerIdentity: () => options.act?.()
            })
            let acted = false
            arrange(socket, () => {
              if (acted) return
              acted = true
              act(socket, raw)
            }, options, raw)
            for (const event of ['secureConnect', 'session', 'keylog', 'data', 'end', 'finish', 'timeout', 'drain']) {
              socket.on(event, () => { if (over) late.push(event) })
            }
            const gone = closed(socket)
            socket.once('secureConnect', () => {
              if (!socket.destroyed && socket.writable) socket.write('hello')
            })
            await gone
            over = true
            for (let turn = 0; turn < 3; turn++) await new Promise(setImmediate)
            assert.strictEqual(acted, true)
            assert.strictEqual(socket.destroyed, true)
            assert.deepStrictEqual(late, [])
          })
        }
      }
    }

    it('of secureConnect, another upgrade succeeds', async () => {
      const server = await peers.tlsServer(certs.server)
      const raws = [await connected(server), await connected(server)]
      const second = await new Promise((resolve) => {
        const first = subject.connect({ socket: raws[0], ca }, () => {
          resolve(secured(subject.connect({ socket: raws[1], ca })))
          first.destroy()
        })
      })
      second.write('ping')
      assert.strictEqual(String(await take(second, 4)), 'ping')
      second.destroy()
    })

    it('of secureConnect, what is written comes after the handshake and in order', async () => {
      const server = await peers.tlsServer(certs.server)
      const socket = subject.connect({ socket: await connected(server), ca })
      socket.write('1')
      socket.once('keylog', () => socket.write('2'))
      socket.once('secureConnect', () => {
        socket.write('3', () => socket.write('5'))
        socket.write('4')
      })
      assert.strictEqual(String(await take(socket, 5)), '12345')
      socket.destroy()
    })

    for (const action of subject.native ? Object.keys(actions) : []) {
      it(`of an init hook of async_hooks, ${action} closes it for good`, async () => {
        const server = await peers.tlsServer(certs.server)
        const raw = net.connect(server.port, '127.0.0.1')
        raw.on('error', () => {})
        let acted = false
        const hook = createHook({
          init (id, type) {
            if (type !== 'EAGERTLS' || acted) return
            acted = true
            actions[action](socket, raw)
          }
        }).enable()
        const socket = subject.connect({ socket: raw, ca })
        socket.resume()
        try {
          await closed(socket)
        } finally {
          hook.disable()
        }
        assert.strictEqual(acted, true)
      })
    }

    if (subject.transport === 'fd') {
      it('of an init hook of async_hooks, a descriptor with the number of the raw one is not taken for it', async () => {
        const server = await peers.tlsServer(certs.server)
        const raw = net.connect(server.port, '127.0.0.1')
        let other
        const hook = createHook({
          init (id, type) {
            if (type !== 'EAGERTLS' || other) return
            const { fd } = raw._handle
            raw._handle.close()
            other = spawn('cat', { stdio: ['pipe', 'pipe', 'inherit'] })
            assert.strictEqual(other.stdin._handle.fd, fd)
          }
        }).enable()
        const socket = subject.connect({ socket: raw, ca })
        try {
          await secured(socket)
        } finally {
          hook.disable()
          socket.destroy()
        }
        let heard = ''
        other.stdout.on('data', (chunk) => { heard += chunk })
        other.stdin.end()
        await once(other, 'close')
        assert.strictEqual(heard, '')
      })
    }

    // node has what it needs for that from before anybody could change it.
    const answering = {
      getPeerCertificate: [2, (socket) => socket.getPeerCertificate(true)],
      getSharedSigalgs: [0, (socket) => socket.getSharedSigalgs()]
    }
    for (const [method, [index, ask]] of Object.entries(answering)) {
      it(`of a setter on Array.prototype, destroy() in ${method}() is survived`, async () => {
        const server = await peers.tlsServer({
          ...certs.server, requestCert: true, rejectUnauthorized: false
        })
        const socket = await secured(subject.connect({
          socket: await connected(server), ca
        }))
        const gone = closed(socket)
        let armed = true
        Object.defineProperty(Array.prototype, index, { // eslint-disable-line no-extend-native
          configurable: true,
          get: () => undefined,
          set (value) {
            Object.defineProperty(this, index, {
              value, configurable: true, enumerable: true, writable: true
            })
            if (armed) socket.destroy()
            armed = false
          }
        })
        try {
          ask(socket)
        } finally {
          delete Array.prototype[index]
          socket.destroy()
        }
        assert.strictEqual(await gone, false)
      })
    }

    describe('an exception', () => {
      const throwing = {
        secureConnect: (socket, fail) => socket.once('secureConnect', fail),
        session: (socket, fail) => socket.once('session', fail),
        keylog: (socket, fail) => socket.once('keylog', fail),
        data: (socket, fail) => socket.once('data', fail),
        readable: (socket, fail) => socket.once('readable', fail),
        'the callback of a write': (socket, fail) => socket.write('x', fail)
      }
      for (const [place, arrange] of Object.entries(throwing)) {
        // After this one node's connection is stuck.
        if (place === 'session' && !subject.native) continue
        it(`of ${place} is uncaught once, and the connection lives on`, async () => {
          const server = await peers.tlsServer(certs.server)
          const mine = new Error(`thrown in ${place}`)
          let socket
          const caught = await uncaughtDuring(async () => {
            socket = subject.connect({ socket: await connected(server), ca })
            const uncaught = new Promise((resolve) => process.once('uncaughtException', resolve))
            arrange(socket, () => { throw mine })
            if (place !== 'readable') socket.resume()
            socket.write('x')
            await uncaught
          })
          assert.deepStrictEqual(caught, [mine])
          assert.strictEqual(socket.destroyed, false)
          let seen = ''
          socket.on('data', (chunk) => { seen += chunk })
          socket.write('still here')
          while (!seen.endsWith('still here')) await once(socket, 'data')
          socket.destroy()
        })
      }
    })

    it('an exception of keylog lets no peer in that is not trusted', async () => {
      const server = await peers.tlsServer(certs.fromOther, (socket) => socket.write('forged'))
      const seen = []
      await uncaughtDuring(async () => {
        const socket = subject.connect({ socket: await connected(server), ca })
        socket.once('keylog', () => { throw new Error('thrown in keylog') })
        socket.on('data', () => seen.push('data'))
        socket.on('secureConnect', () => seen.push('secureConnect'))
        socket.on('error', (error) => seen.push(error.code))
        await new Promise((resolve) => socket.once('close', resolve))
      })
      assert.deepStrictEqual(seen, ['UNABLE_TO_VERIFY_LEAF_SIGNATURE'])
    })

    it('the AsyncLocalStorage of the upgrade is in force', async () => {
      const server = await peers.tlsServer(certs.server)
      const raw = await connected(server)
      const storage = new AsyncLocalStorage()
      const seen = {}
      const socket = storage.run('of the upgrade', () => {
        const socket = subject.connect({ socket: raw, ca })
        for (const event of ['secureConnect', 'session', 'data', 'end']) {
          socket.on(event, () => { seen[event] = storage.getStore() })
        }
        return socket
      })
      await storage.run('of a later caller', async () => {
        await secured(socket)
        socket.write('x')
        await once(socket, 'data')
        socket.end()
        await closed(socket)
      })
      assert.deepStrictEqual(seen, Object.fromEntries(
        ['secureConnect', 'session', 'data', 'end'].map((event) =>
          [event, 'of the upgrade'])))
    })

    it('promises made in a listener run before the next event', async () => {
      const server = await peers.tlsServer(certs.server, (socket) => socket.end('data'))
      const socket = subject.connect({ socket: await connected(server), ca })
      const order = []
      for (const event of ['secureConnect', 'data', 'end', 'close']) {
        socket.on(event, () => {
          order.push(event)
          Promise.resolve().then(() => order.push(`after ${event}`))
        })
      }
      await closed(socket)
      await new Promise(setImmediate)
      assert.deepStrictEqual(order, ['secureConnect', 'after secureConnect', 'data',
        'after data', 'end', 'after end', 'close', 'after close'])
    })
  })
})
