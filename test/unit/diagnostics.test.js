'use strict'

const assert = require('node:assert/strict')
const { spawnSync } = require('node:child_process')
const { subscribe, unsubscribe } = require('node:diagnostics_channel')
const net = require('node:net')
const path = require('node:path')

const diagnostics = require('../../lib/diagnostics')
const {
  publishContext, publishHandshake, watchesContexts, watchesHandshakes
} = diagnostics
const { closedPort } = require('../support/closed-port')

/** The messages of a channel while something is done. */
function listen (name, action) {
  const messages = []
  const onMessage = (message, channel) => messages.push([channel, message])
  subscribe(name, onMessage)
  try {
    action()
  } finally {
    unsubscribe(name, onMessage)
  }
  return messages
}

describe('diagnostics', () => {
  it('compute nothing while nobody listens', () => {
    assert.equal(watchesHandshakes(), false)
    assert.equal(watchesContexts(), false)
    publishHandshake(() => assert.fail('was computed'))
    publishContext(1, { get length () { return assert.fail('was read') } })
  })

  it('publish handshakes as they are described', () => {
    const message = { servername: 'a', error: null, durationMs: 5 }
    assert.deepEqual(listen('eager-tls:handshake', () => {
      assert.equal(watchesHandshakes(), true)
      assert.equal(watchesContexts(), false)
      publishHandshake(() => message)
    }), [['eager-tls:handshake', message]])
  })

  it('publish the events of contexts with a short key', () => {
    const digest = Buffer.alloc(32, 0xab)
    const key = 'ab'.repeat(8)
    assert.deepEqual(listen('eager-tls:context', () => {
      assert.equal(watchesContexts(), true)
      publishContext(1, digest)
      publishContext(2, digest)
      publishContext(3, new Uint8Array(digest))
      publishContext('created', digest)
    }).map(([, message]) => message), [
      { event: 'created', key },
      { event: 'evicted', key },
      { event: 'freed', key },
      { event: 'created', key }
    ])
  })

  for (const [name, { connect }] of Object.entries({
    'the package': require('../..'),
    'the node backend': require('../../lib/node-backend')
  })) {
    it(`name the error of a raw socket that ends a handshake of ${name}`,
      async () => {
        const port = await closedPort()
        const messages = []
        const onMessage = (message) => messages.push(message)
        subscribe('eager-tls:handshake', onMessage)
        try {
          const socket = connect({ socket: net.connect(port, '127.0.0.1') })
          const errors = []
          socket.on('error', (error) => errors.push(error))
          await new Promise((resolve) => socket.once('close', resolve))
          assert.deepEqual(errors.map(({ code }) => code), ['ECONNREFUSED'])
          assert.deepEqual(messages.map(({ error }) => error), errors)
          assert.equal(messages[0].servername, null)
        } finally {
          unsubscribe('eager-tls:handshake', onMessage)
        }
      })
  }

  it('write to the terminal with NODE_DEBUG=eager-tls only', () => {
    const run = (NODE_DEBUG) => spawnSync(process.execPath, ['-e', `
      const { publishContext, publishHandshake } = require(${
        JSON.stringify(path.join(__dirname, '../../lib/diagnostics.js'))})
      publishHandshake(() => ({ servername: 'secret-free', error: { code: 'X' } }))
      publishContext('created', Buffer.alloc(32))
    `], { encoding: 'utf8', env: { ...process.env, NODE_DEBUG } })
    assert.equal(run('').stderr, '')
    const { stderr } = run('eager-tls')
    assert.match(stderr, /EAGER-TLS \d+: handshake .*"secret-free".*"error":"X"/)
    assert.match(stderr, /EAGER-TLS \d+: context created 0000000000000000/)
  })
})
