'use strict'

/**
 * A TLS socket inherits from node's classes without having run their
 * constructors: whatever they do with node's binding must not be reached from
 * it, on the version that this runs on; and what they show must be there.
 */

const assert = require('node:assert/strict')
const { spawnSync } = require('node:child_process')
const { once } = require('node:events')
const net = require('node:net')
const path = require('node:path')
const stream = require('node:stream')
const tls = require('node:tls')

const eager = require('../..')
const certs = require('../support/certs')

const NATIVE = eager.backend === 'native'
const transport = process.env.EAGER_TLS_TEST_TRANSPORT

// Inherited members that look at the handle, and why they may.
const HARMLESS = new Map([
  ['_onTimeout', 'reads writeQueueSize, which the facade has'],
  ['read', 'only with onread of net.Socket, which this socket is not given'],
  ['messaging_transfer_list_symbol', 'refuses what has no TCP handle'],
  ['messaging_transfer_symbol', 'refuses what has no TCP handle']
])

const TOUCHES_HANDLE = /\b(_handle|ssl|internalBinding)\b|Wrap\b/

/** Functions of a property: its value, or its getter and setter. */
function functionsOf (proto, name) {
  const { get, set, value } = Object.getOwnPropertyDescriptor(proto, name)
  return [get, set, value].filter((one) => typeof one === 'function')
}

/** Names of what for..in finds. */
function visible (object) {
  const names = []
  for (const name in object) names.push(name)
  return names.sort()
}

describe('the prototype chain of a TLS socket', function () {
  before(function () {
    // node's own sockets then.
    if (!NATIVE) this.skip()
  })

  it('makes it an instance of all that it stands for', () => {
    const socket = new eager.TLSSocket()
    for (const Class of [eager.TLSSocket, tls.TLSSocket, net.Socket,
      stream.Duplex, stream.Readable, stream.Writable]) {
      assert.ok(socket instanceof Class, Class.name)
    }
    assert.equal(socket.constructor.name, 'TLSSocket')
    socket.destroy()
  })

  it('leaves nothing un-overridden that touches a handle', () => {
    const found = []
    const own = new Set(Reflect.ownKeys(eager.TLSSocket.prototype))
    for (const proto of [tls.TLSSocket.prototype, net.Socket.prototype]) {
      for (const name of Reflect.ownKeys(proto)) {
        if (own.has(name) || name === 'constructor') continue
        const text = name.description ?? name
        if (functionsOf(proto, name).some((one) => TOUCHES_HANDLE.test(one)) &&
            !HARMLESS.has(text)) found.push(text)
      }
    }
    assert.deepEqual(found, [])
  })

  it('bears the use of every member, fresh, open and closed', function () {
    this.timeout(60000)
    const { status, signal, stdout, stderr } = spawnSync(process.execPath,
      [path.join(__dirname, '../support/every-member.js')],
      { encoding: 'utf8' })
    assert.deepEqual({ status, signal, stderr },
      { status: 0, signal: null, stderr: '' })
    const results = JSON.parse(stdout)
    assert.ok(Object.keys(results).length > 70)
    const allowed = new Set([
      'returned',
      'threw ERR_INVALID_ARG_TYPE',
      'threw ERR_MISSING_ARGS',
      'threw ERR_UNKNOWN_ENCODING',
      'threw ERR_WORKER_HANDLE_NOT_TRANSFERABLE'
    ])
    for (const [name, outcomes] of Object.entries(results)) {
      for (const [state, outcome] of Object.entries(outcomes)) {
        assert.ok(allowed.has(outcome), `${name}, ${state}: ${outcome}`)
      }
    }
  })

  describe('beside node\'s own socket', () => {
    let server
    let sockets

    beforeEach(async () => {
      server = tls.createServer(certs.server, (socket) => {
        socket.on('error', () => {})
        socket.resume()
      }).listen(0, '127.0.0.1')
      await once(server, 'listening')
      sockets = {}
    })

    afterEach(() => {
      for (const socket of Object.values(sockets)) socket.destroy()
      server.close()
    })

    const kinds = {
      'of an upgrade': async (connect, options) => {
        const raw = net.connect(server.address().port, '127.0.0.1')
        await once(raw, 'connect')
        return connect({ ...options, socket: raw, ca: certs.ca })
      },
      'of a connection of its own': async (connect, options) => connect({
        ...options,
        ca: certs.ca,
        host: '127.0.0.1',
        port: server.address().port
      })
    }

    /** { node, ours }, both secure, or both closed. */
    async function pair (make, state) {
      sockets.node = await make(tls.connect, {})
      await once(sockets.node, 'secureConnect')
      sockets.ours = await make(eager.connect, { transport })
      await once(sockets.ours, 'secureConnect')
      if (state === 'closed') {
        for (const socket of Object.values(sockets)) {
          socket.destroy()
          await once(socket, 'close')
        }
      }
      return sockets
    }

    for (const [kind, make] of Object.entries(kinds)) {
      for (const state of ['open', 'closed']) {
        it(`has the same names, ${kind} that is ${state}`, async () => {
          const { node, ours } = await pair(make, state)
          assert.deepEqual(Object.getOwnPropertyNames(ours).sort(),
            Object.getOwnPropertyNames(node).sort())
          assert.deepEqual(Object.keys(ours).sort(), Object.keys(node).sort())
          assert.deepEqual(visible(ours), visible(node))
        })

        it(`has the same values, ${kind} that is ${state}`, async () => {
          const { node, ours } = await pair(make, state)
          const facts = (socket) => Object.fromEntries(visible(socket)
            .filter((name) => !['_events', '_eventsCount', 'localPort',
              '_host', 'ssl', '_handle'].includes(name) &&
              !/port/i.test(name))
            .map((name) => [name, socket[name]])
            .filter(([, value]) => value === null || typeof value !== 'object')
            .map(([name, value]) => [name,
              typeof value === 'function' ? 'function' : value]))
          assert.deepEqual(facts(ours), facts(node))
        })
      }

      // Row "own listeners" of docs/compat.md.
      it(`has no listeners beyond node's, ${kind}`, async () => {
        const { node, ours } = await pair(make, 'open')
        for (const event of ours.eventNames()) {
          assert.ok(ours.listenerCount(event) <= node.listenerCount(event),
            String(event))
        }
        assert.deepEqual(ours.eventNames(), ['end'])
      })
    }

    it('has prototypes with all of node\'s names', () => {
      const own = new Set()
      for (let proto = eager.TLSSocket.prototype; proto !== Object.prototype;
        proto = Object.getPrototypeOf(proto)) {
        for (const name of Object.getOwnPropertyNames(proto)) own.add(name)
      }
      for (const name of Object.getOwnPropertyNames(tls.TLSSocket.prototype)) {
        assert.ok(own.has(name), name)
      }
      // And no public ones of its own.
      const added = Object.getOwnPropertyNames(eager.TLSSocket.prototype)
        .filter((name) => !(name in tls.TLSSocket.prototype))
      assert.deepEqual(added, [])
    })
  })
})
