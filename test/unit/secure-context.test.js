'use strict'

const assert = require('node:assert/strict')
const tls = require('node:tls')

const certs = require('../support/certs')
const { OPTION } = require('../../lib/constants')
const {
  SecureContext, createSecureContext, handleOf, isForeign, optionsOf,
  syncDefaultRoots
} = require('../../lib/secure-context')

/** Stands in for the binding and records what is asked of it. */
function fakeBinding ({ weakDhBits = 0 } = {}) {
  const binding = {
    created: [],
    roots: [],
    closed: 0,
    setDefaultRoots (list) { binding.roots.push(list) },
    Context: class {
      constructor (fields, singleUse) {
        binding.created.push({ fields, singleUse })
      }

      close () { binding.closed++ }
      weakDhBits () { return weakDhBits }
    }
  }
  return binding
}

describe('a SecureContext', () => {
  const { ca } = certs

  it('is an instance of both classes', () => {
    const context = createSecureContext(fakeBinding(), { ca })
    assert.ok(context instanceof SecureContext)
    assert.ok(context instanceof tls.SecureContext)
    assert.equal(tls.createSecureContext({ ca }) instanceof SecureContext,
      false)
  })

  it('gives its reference back once', () => {
    const binding = fakeBinding()
    const context = createSecureContext(binding, { ca })
    assert.ok(handleOf(context) instanceof binding.Context)
    context.close()
    context.close()
    assert.equal(binding.closed, 1)
    for (const use of [() => handleOf(context), () => context.context]) {
      assert.throws(use, { code: 'ERR_EAGER_TLS_CONTEXT_CLOSED' })
    }
  })

  it('builds the context of node on demand, once, from what it was made of',
    () => {
      const options = { ca, minVersion: 'TLSv1.3', maxVersion: 'TLSv1.3' }
      const context = createSecureContext(fakeBinding(), options)
      options.minVersion = 'nonsense'
      const { context: native } = context
      assert.equal(native, context.context)
      assert.equal(native.getMinProto(), 0x0304)
      assert.equal(native.constructor,
        tls.createSecureContext().context.constructor)
      context.close()
    })

  it('serves node:tls', (done) => {
    const server = tls.createServer(certs.server, (peer) => peer.end())
    server.listen(0, '127.0.0.1', () => {
      const secureContext = createSecureContext(fakeBinding(), { ca })
      const client = tls.connect({
        port: server.address().port, host: '127.0.0.1', secureContext
      }, () => {
        assert.equal(client.authorized, true)
        client.destroy()
        server.close(done)
      })
      client.on('error', done)
    })
  })

  it('remembers its options as they were', () => {
    const options = { ca, servername: 'x' }
    const context = createSecureContext(fakeBinding(), options)
    delete options.ca
    assert.deepEqual(optionsOf(context), { ca, servername: 'x' })
    assert.deepEqual(optionsOf(createSecureContext(fakeBinding())), {})
  })

  it('keeps bytes that are overwritten and arrays that are changed later', () => {
    const root = certs.fresh('ca.crt')
    const cas = [root]
    const { cert } = certs.clientA
    const key = certs.fresh('client-a.key')
    const pfx = certs.fresh('client-a.pfx')
    const { passphrase } = certs
    const context = createSecureContext(fakeBinding(), {
      ca: cas, cert, key: [{ pem: key }], pfx: [{ buf: pfx, passphrase }]
    })
    for (const bytes of [root, key, pfx]) bytes.fill(0)
    cas.push(certs.otherCa)
    const kept = optionsOf(context)
    assert.deepEqual(kept.ca, [certs.ca])
    assert.deepEqual(kept.key[0].pem, certs.clientA.key)
    assert.deepEqual(kept.pfx[0].buf, certs.clientAPfx.pfx)
    assert.ok(context.context.getCertificate() instanceof Buffer)
  })

  it('knows options that are inherited', () => {
    const options = Object.create({ ca, minVersion: 'TLSv1.3' })
    const context = createSecureContext(fakeBinding(), options)
    assert.equal(context.context.getMinProto(), 0x0304)
    assert.deepEqual(optionsOf(context).ca, ca)
  })

  it('forgets keys when it is closed', () => {
    const context = createSecureContext(fakeBinding(), certs.clientA)
    context.close()
    assert.equal(optionsOf(context), null)
  })

  it('passes singleUse on', () => {
    const binding = fakeBinding()
    createSecureContext(binding, { ca })
    createSecureContext(binding, { ca, singleUse: true })
    assert.deepEqual(binding.created.map(({ singleUse }) => singleUse),
      [false, true])
    assert.ok(binding.created[0].fields.includes(OPTION.CA))
  })

  it('is node\'s own with options that the core does not know', () => {
    const binding = fakeBinding()
    assert.throws(() => createSecureContext(binding, { clientCertEngine: 5 }),
      { code: 'ERR_INVALID_ARG_TYPE' })
    assert.equal(binding.created.length, 0)
  })

  it('is foreign unless it was made here', () => {
    assert.equal(isForeign(createSecureContext(fakeBinding(), { ca })), false)
    for (const value of [tls.createSecureContext(), undefined, null, {}, 5,
      Object.create(SecureContext.prototype)]) {
      assert.equal(isForeign(value), true)
    }
  })

  it('passes the default roots on once for each binding', () => {
    const binding = fakeBinding()
    createSecureContext(binding, { ca })
    assert.equal(binding.roots.length, 0)
    createSecureContext(binding)
    createSecureContext(binding, {})
    assert.equal(binding.roots.length, 1)
    assert.ok(binding.roots[0].length > 50)
    const other = fakeBinding()
    syncDefaultRoots(other)
    assert.equal(other.roots[0], binding.roots[0])
  })

  it('warns of short DH parameters in the words of node', async () => {
    const warning = new Promise((resolve) => process.once('warning', resolve))
    createSecureContext(fakeBinding({ weakDhBits: 1024 }), { ca })
    const { name, message } = await warning
    assert.equal(name, 'SecurityWarning')
    assert.equal(message, 'DH parameter is less than 2048 bits')
  })

  it('throws what node throws', () => {
    assert.throws(() => createSecureContext(fakeBinding(), { ca: 5 }),
      { code: 'ERR_INVALID_ARG_TYPE' })
  })
})
