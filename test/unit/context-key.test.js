'use strict'

const assert = require('node:assert/strict')
const { inspect } = require('node:util')

const { contextDigest } = require('../../lib/context-key')
const { flattenContextOptions } = require('../../lib/options')

const ROOTS = ['root one', 'root two']

function key (options, roots = ROOTS) {
  return contextDigest(flattenContextOptions(options).fields, roots)
    .toString('hex')
}

/** The same bytes in every shape that the options accept. */
function shapes (text) {
  const bytes = Buffer.from(text)
  const wide = Buffer.concat([Buffer.from('<'), bytes, Buffer.from('>')])
  const copy = new Uint8Array(bytes)
  return [
    text,
    bytes,
    Buffer.from(text),
    wide.subarray(1, -1),
    new Uint8Array(bytes),
    new Int8Array(copy.buffer),
    new DataView(copy.buffer),
    new DataView(wide.buffer, wide.byteOffset + 1, bytes.length)
  ]
}

// Options that mean different things, each against the plain { ca: 'A' }.
const DIFFERENT = [
  { ca: 'A' },
  {},
  { ca: [] },
  { ca: 'B' },
  { ca: 'a' },
  { ca: ['A', 'B'] },
  { ca: ['B', 'A'] },
  { ca: ['AB'] },
  { ca: ['A', ''] },
  { ca: 'A', allowPartialTrustChain: true },
  { ca: 'A', cert: 'C' },
  { ca: 'A', crl: 'C' },
  { ca: 'A', key: 'C' },
  { ca: 'A', key: 'C', passphrase: '' },
  { ca: 'A', key: 'C', passphrase: 'p' },
  { ca: 'A', key: 'Cp' },
  { ca: 'A', key: [{ pem: 'C', passphrase: 'q' }], passphrase: 'p' },
  { ca: 'A', pfx: 'C' },
  { ca: 'A', pfx: 'C', passphrase: 'p' },
  { ca: 'A', pfx: ['C'], passphrase: '' },
  { ca: 'A', cert: 'C', key: 'C' },
  { ca: 'A', ciphers: 'AES128-SHA' },
  { ca: 'A', ciphers: 'AES256-SHA' },
  { ca: 'A', ciphers: 'TLS_AES_128_GCM_SHA256' },
  { ca: 'A', sigalgs: 'RSA+SHA256' },
  { ca: 'A', ecdhCurve: 'P-256' },
  { ca: 'A', ecdhCurve: 'P-256:P-384' },
  { ca: 'A', dhparam: 'auto' },
  { ca: 'A', dhparam: 'D' },
  { ca: 'A', minVersion: 'TLSv1.3' },
  { ca: 'A', maxVersion: 'TLSv1.2' },
  { ca: 'A', secureProtocol: 'TLS_method' },
  { ca: 'A', secureProtocol: 'TLS_client_method' },
  { ca: 'A', secureOptions: 4 },
  { ca: 'A', secureOptions: 5 },
  { ca: 'A', honorCipherOrder: true },
  { ca: 'A', sessionIdContext: 'D' },
  { ca: 'A', sessionTimeout: 5 },
  { ca: 'A', sessionTimeout: 0 },
  { ca: 'A', ticketKeys: Buffer.alloc(48) },
  { ca: 'A', ticketKeys: Buffer.alloc(48, 1) }
]

// Options that mean the same as the first of each row.
const SAME = [
  [{ ca: 'A' }, { ca: ['A'] }, { ca: 'A', cert: '' }, { ca: 'A', key: null },
    { ca: 'A', host: 'h', servername: 's', session: Buffer.from('x') },
    { ca: 'A', singleUse: true, sessionReuse: false, transport: 'fd' },
    { ca: 'A', minVersion: 'TLSv1.2', maxVersion: 'TLSv1.3' },
    { ca: 'A', ecdhCurve: 'auto' }, { ca: 'A', secureOptions: 0 },
    { ca: 'A', rejectUnauthorized: false, ALPNProtocols: ['h2'] },
    { ca: 'A', passphrase: 'for nothing' }],
  [{}, { ca: '' }, { ca: null }, { ca: undefined }],
  [{ key: 'K', passphrase: 'p' }, { key: ['K'], passphrase: 'p' },
    { key: [{ pem: 'K' }], passphrase: 'p' },
    { key: [{ pem: 'K', passphrase: 'p' }] }],
  [{ pfx: 'K', passphrase: 'p' }, { pfx: [{ buf: 'K', passphrase: 'p' }] },
    { pfx: Buffer.from('K'), passphrase: Buffer.from('p') }]
]

describe('contextDigest', () => {
  it('is 32 bytes and repeatable', () => {
    const { fields } = flattenContextOptions({ ca: 'A' })
    assert.equal(contextDigest(fields, ROOTS).length, 32)
    assert.equal(key({ ca: 'A' }), key({ ca: 'A' }))
  })

  it('differs for all options that mean something else', () => {
    const seen = new Map()
    for (const options of DIFFERENT) {
      const digest = key(options)
      assert.equal(seen.has(digest), false,
        `${inspect(options)} and ${inspect(seen.get(digest))}`)
      seen.set(digest, options)
    }
  })

  for (const [first, ...others] of SAME) {
    it(`is the same for all that means ${inspect(first)}`, () => {
      for (const options of others) {
        assert.equal(key(options), key(first), inspect(options))
      }
    })
  }

  it('is the same for the same bytes in every shape', () => {
    for (const name of ['ca', 'cert', 'key', 'crl', 'pfx', 'dhparam']) {
      const keys = shapes('\u00e9 text').map((value) => key({ [name]: value }))
      assert.equal(new Set(keys).size, 1, name)
    }
  })

  it('follows a buffer that was overwritten in place', () => {
    const ca = Buffer.from('first')
    const before = key({ ca })
    ca.write('other')
    assert.notEqual(key({ ca }), before)
    assert.equal(key({ ca }), key({ ca: 'other' }))
  })

  it('follows the default roots, only where they are used', () => {
    assert.equal(key({}, ROOTS), key({}, [...ROOTS]))
    assert.notEqual(key({}, ROOTS), key({}, ['root one', 'root two!']))
    assert.notEqual(key({}, ROOTS), key({}, ['root tworoot one']))
    assert.equal(key({ ca: 'A' }, ROOTS), key({ ca: 'A' }, ['other']))
  })
})
