'use strict'

const assert = require('node:assert/strict')
const tls = require('node:tls')
const { inspect } = require('node:util')

const { METHOD, OPTION, VERSION } = require('../../lib/constants')
const { flattenContextOptions } = require('../../lib/options')

/** What a call throws, in the parts that callers look at. */
function thrownBy (call) {
  try {
    call()
  } catch (error) {
    return {
      name: error.name,
      code: error.code,
      message: error.message,
      string: String(error),
      firstLine: error.stack.split('\n', 1)[0],
      constructor: error.constructor,
      keys: Object.keys(error)
    }
  }
  return null
}

/** The values of one option, each with its passphrase if it has one. */
function valuesOf (options, option) {
  const { fields } = flattenContextOptions(options)
  const values = []
  for (let i = 0; i < fields.length; i += 3) {
    if (fields[i] !== option) continue
    values.push(fields[i + 2] === undefined
      ? fields[i + 1]
      : [fields[i + 1], fields[i + 2]])
  }
  return values
}

class Foo {}
const anonymous = new (class {})()
function named () {}

// What no option that takes bytes accepts.
const NO_BYTES = [5, -0, NaN, Infinity, true, {}, new Foo(), anonymous, named,
  () => {}, Symbol('s'), 10n, new ArrayBuffer(4), new Date(0), /x/,
  Object.create(null)]
const NO_STRINGS = [...NO_BYTES, Buffer.from('x'), [], ['x']]
const NO_VERSIONS = ['', 'TLSv1.4', 'tlsv1.2', 'TLSv1.2 ', 5, true, false, {},
  { a: 1 }, [], named, Symbol('s'), 771]

/** name -> wrong values, each given as this option alone. */
const WRONG = {
  minVersion: NO_VERSIONS,
  maxVersion: NO_VERSIONS,
  secureProtocol: ['SSLv2_method', 'SSLv2_client_method', 'SSLv3_method',
    'SSLv3_server_method', 'TLSv1_3_method', 'TLSv1.2_method', 'x', '',
    '__proto__', 'toString'],
  secureOptions: ['x', '5', 1.5, true, 1n, {}, [], 2 ** 53, -(2 ** 60), named],
  ciphers: [...NO_STRINGS, 0, false, ':', ':::'],
  ca: [...NO_BYTES.filter(Boolean), [5], [null], [undefined], ['x', {}],
    [['x']], [Symbol('s')], { pem: 'x' }],
  cert: [...NO_BYTES.filter(Boolean), [5], [null], [undefined], [[]]],
  key: [...NO_BYTES.filter(Boolean), [5], [null], [undefined], [{ pem: 5 }],
    [{}], { pem: 'x' }, new Array(1)],
  sigalgs: [...NO_STRINGS, ''],
  ecdhCurve: [...NO_STRINGS, null],
  dhparam: [...NO_BYTES, [], ['x']],
  crl: [...NO_BYTES, [5], [null], [{}]],
  sessionIdContext: NO_STRINGS,
  pfx: [5, true, {}, named, Symbol('s'), new ArrayBuffer(3), 0, false, NaN,
    [5], [{}], [null], [undefined], [{ buf: 5 }]],
  ticketKeys: ['x', 5, {}, [], new ArrayBuffer(48), Buffer.alloc(47),
    Buffer.alloc(49), Buffer.alloc(0), new Uint16Array(48)],
  sessionTimeout: ['x', '5', true, 1.5, -1, 2 ** 31, NaN, Infinity, {}, 1n]
}

describe('flattenContextOptions', () => {
  describe('throws what node throws', () => {
    for (const [name, values] of Object.entries(WRONG)) {
      it(`for ${values.length} wrong values of ${name}`, () => {
        for (const value of values) {
          const options = { [name]: value }
          const expected = thrownBy(() => tls.createSecureContext(options))
          assert.notEqual(expected, null, inspect(options))
          assert.deepEqual(thrownBy(() => flattenContextOptions(options)),
            expected, inspect(options))
        }
      })
    }

    it('for options that are no object', () => {
      for (const options of [5, 'x', true, [], () => {}, named, Symbol('s')]) {
        const expected = thrownBy(() => tls.createSecureContext(options))
        assert.notEqual(expected, null)
        assert.deepEqual(thrownBy(() => flattenContextOptions(options)),
          expected)
      }
    })

    it('for a version beside a method', () => {
      for (const options of [
        { secureProtocol: 'TLS_method', minVersion: 'TLSv1' },
        { secureProtocol: 'TLS_method', maxVersion: 'nonsense' },
        { secureProtocol: 5, minVersion: '' },
        { secureProtocol: {}, maxVersion: 'TLSv1.2', minVersion: 'TLSv1.3' }
      ]) {
        const expected = thrownBy(() => tls.createSecureContext(options))
        assert.equal(expected.code, 'ERR_TLS_PROTOCOL_VERSION_CONFLICT')
        assert.deepEqual(thrownBy(() => flattenContextOptions(options)),
          expected)
      }
    })

    it('for passphrases that are none', () => {
      for (const passphrase of [5, true, {}, Buffer.from('x')]) {
        const options = { key: 'x', passphrase }
        const expected = thrownBy(() => tls.createSecureContext(options))
        assert.equal(expected.code, 'ERR_INVALID_ARG_TYPE')
        assert.deepEqual(thrownBy(() => flattenContextOptions(options)),
          expected)
      }
      for (const options of [
        { pfx: 'x', passphrase: 5 },
        { pfx: ['x'], passphrase: {} },
        { pfx: [{ buf: 'x', passphrase: new ArrayBuffer(3) }] }
      ]) {
        const expected = thrownBy(() => tls.createSecureContext(options))
        assert.equal(expected.message, 'Pass phrase must be a buffer')
        assert.deepEqual(thrownBy(() => flattenContextOptions(options)),
          expected)
      }
    })

    it('for a default that somebody has spoilt', () => {
      const { DEFAULT_MIN_VERSION } = tls
      tls.DEFAULT_MIN_VERSION = 'spoilt'
      try {
        const expected = thrownBy(() => tls.createSecureContext({}))
        assert.equal(expected.code, 'ERR_TLS_INVALID_PROTOCOL_VERSION')
        assert.deepEqual(thrownBy(() => flattenContextOptions({})), expected)
      } finally {
        tls.DEFAULT_MIN_VERSION = DEFAULT_MIN_VERSION
      }
    })
  })

  it('accepts no options at all', () => {
    for (const options of [undefined, null, 0, '', false]) {
      assert.deepEqual(flattenContextOptions(options),
        flattenContextOptions({}))
    }
  })

  it('gives triples in ascending order of option', () => {
    const { fields } = flattenContextOptions({
      sessionTimeout: 5,
      ticketKeys: Buffer.alloc(48),
      pfx: ['a', 'b'],
      sessionIdContext: 'id',
      crl: ['x', 'y'],
      dhparam: 'auto',
      ecdhCurve: 'P-256',
      sigalgs: 'RSA+SHA256',
      key: ['k1', 'k2'],
      cert: ['c1', 'c2'],
      allowPartialTrustChain: true,
      ca: ['a1', 'a2'],
      ciphers: 'TLS_AES_128_GCM_SHA256:AES128-SHA',
      secureOptions: 4,
      secureProtocol: 'TLS_client_method'
    })
    assert.equal(fields.length % 3, 0)
    const options = fields.filter((_, index) => index % 3 === 0)
    assert.deepEqual(options, options.toSorted((a, b) => a - b))
    assert.deepEqual(new Set(options), new Set(
      Object.values(OPTION).filter((option) =>
        option !== OPTION.DEFAULT_ROOTS && option !== OPTION.OPENSSL_CA)))
  })

  it('has the versions that node would set', () => {
    const names = ['TLS_method', 'TLS_client_method', 'SSLv23_method',
      'SSLv23_client_method', 'TLSv1_method', 'TLSv1_1_client_method',
      'TLSv1_2_method', 'TLSv1_2_server_method']
    const cases = [{}, { minVersion: null, maxVersion: undefined },
      { minVersion: 'TLSv1' }, { maxVersion: 'TLSv1.1' },
      { minVersion: 'TLSv1.3', maxVersion: 'TLSv1.2' },
      { ciphers: 'TLS_AES_128_GCM_SHA256' },
      { ciphers: 'TLS_AES_128_GCM_SHA256', maxVersion: 'TLSv1.2' },
      { ciphers: 'TLS_AES_128_GCM_SHA256', secureProtocol: 'TLS_method' },
      { ciphers: 'TLS_AES_128_GCM_SHA256', secureProtocol: 'SSLv23_method' },
      { secureProtocol: 5 }, { secureProtocol: {} },
      ...names.map((secureProtocol) => ({ secureProtocol }))]
    for (const options of cases) {
      const { context } = tls.createSecureContext(options)
      assert.deepEqual(valuesOf(options, OPTION.MIN_VERSION),
        [context.getMinProto()], inspect(options))
      assert.deepEqual(valuesOf(options, OPTION.MAX_VERSION),
        [context.getMaxProto()], inspect(options))
    }
  })

  it('tells methods of one side only', () => {
    const method = (secureProtocol) =>
      valuesOf({ secureProtocol }, OPTION.METHOD)
    assert.deepEqual(method('TLS_method'), [])
    assert.deepEqual(method('TLS_client_method'), [METHOD.CLIENT])
    assert.deepEqual(method('TLSv1_2_server_method'), [METHOD.SERVER])
  })

  it('reads the defaults of node:tls when it is called', () => {
    const saved = { ...tls }
    try {
      tls.DEFAULT_MIN_VERSION = 'TLSv1.1'
      tls.DEFAULT_MAX_VERSION = 'TLSv1.2'
      tls.DEFAULT_CIPHERS = 'AES128-SHA'
      tls.DEFAULT_ECDH_CURVE = 'P-384'
      assert.deepEqual(flattenContextOptions({ ca: 'x' }).fields, [
        OPTION.MIN_VERSION, VERSION['TLSv1.1'], undefined,
        OPTION.MAX_VERSION, VERSION['TLSv1.2'], undefined,
        OPTION.CIPHER_LIST, 'AES128-SHA', undefined,
        OPTION.CA, 'x', undefined,
        OPTION.ECDH_CURVE, 'P-384', undefined
      ])
    } finally {
      for (const name of ['DEFAULT_MIN_VERSION', 'DEFAULT_MAX_VERSION',
        'DEFAULT_CIPHERS', 'DEFAULT_ECDH_CURVE']) {
        tls[name] = saved[name]
      }
    }
  })

  it('splits suites from older ciphers', () => {
    const split = (ciphers) => [
      valuesOf({ ciphers }, OPTION.CIPHER_SUITES),
      valuesOf({ ciphers }, OPTION.CIPHER_LIST)
    ]
    assert.deepEqual(split('AES128-SHA'), [[], ['AES128-SHA']])
    assert.deepEqual(split('TLS_A'), [['TLS_A'], ['']])
    assert.deepEqual(split('A:TLS_A::!TLS_B:B:'), [['TLS_A:!TLS_B'], ['A:B']])
    assert.deepEqual(split('DEFAULT@SECLEVEL=0'), [[], ['DEFAULT@SECLEVEL=0']])
    assert.deepEqual(split(''), split(tls.DEFAULT_CIPHERS))
    assert.deepEqual(split(null), split(undefined))
  })

  it('joins honorCipherOrder with secureOptions', () => {
    const bits = (options) => valuesOf(options, OPTION.SECURE_OPTIONS)
    assert.deepEqual(bits({}), [])
    assert.deepEqual(bits({ secureOptions: 0 }), [])
    assert.deepEqual(bits({ secureOptions: NaN }), [])
    assert.deepEqual(bits({ secureOptions: 2 ** 33 }), [2 ** 33])
    assert.deepEqual(bits({ honorCipherOrder: true }), [0x400000])
    assert.deepEqual(bits({ honorCipherOrder: 1, secureOptions: 4 }),
      [0x400004])
    assert.deepEqual(bits({ honorCipherOrder: true, secureOptions: 'abc' }),
      [0x400000])
  })

  it('takes ca, cert and crl alone or in arrays, uncopied', () => {
    const buffer = Buffer.from('b')
    const view = new DataView(new ArrayBuffer(2))
    for (const [name, option] of [['ca', OPTION.CA], ['cert', OPTION.CERT],
      ['crl', OPTION.CRL]]) {
      for (const value of ['pem', buffer, view, new Uint16Array(2)]) {
        const [alone] = valuesOf({ [name]: value }, option)
        assert.equal(alone, value)
        const many = valuesOf({ [name]: [value, 'x', value] }, option)
        assert.equal(many.length, 3)
        assert.equal(many[2], value)
      }
      assert.deepEqual(valuesOf({ [name]: [] }, option), [])
    }
    const holes = ['x']
    holes[3] = 'y'
    assert.deepEqual(valuesOf({ ca: holes }, OPTION.CA), ['x', 'y'])
  })

  it('trusts the default roots only without ca', () => {
    for (const ca of [undefined, null, '', 0, false, NaN]) {
      const { fields, usesDefaultRoots } = flattenContextOptions({ ca })
      assert.equal(usesDefaultRoots, true)
      assert.ok(fields.includes(OPTION.DEFAULT_ROOTS))
    }
    for (const ca of ['x', [], Buffer.alloc(0), ['']]) {
      const { usesDefaultRoots } = flattenContextOptions({ ca })
      assert.equal(usesDefaultRoots, false)
      assert.deepEqual(valuesOf({ ca }, OPTION.DEFAULT_ROOTS), [])
    }
  })

  it('takes keys with their own passphrases', () => {
    const keys = (options) => valuesOf(options, OPTION.KEY)
    assert.deepEqual(keys({ key: 'k' }), ['k'])
    assert.deepEqual(keys({ key: 'k', passphrase: 'p' }), [['k', 'p']])
    assert.deepEqual(keys({ key: 'k', passphrase: '' }), [['k', '']])
    assert.deepEqual(keys({ key: 'k', passphrase: null }), ['k'])
    assert.deepEqual(keys({ key: '' }), [])
    assert.deepEqual(keys({ key: [] }), [])
    assert.deepEqual(keys({
      key: ['a', { pem: 'b' }, { pem: 'c', passphrase: 'q' },
        { pem: 'd', passphrase: null }, { pem: 'e', passphrase: '' }],
      passphrase: 'p'
    }), [['a', 'p'], ['b', 'p'], ['c', 'q'], 'd', ['e', '']])
  })

  it('takes pfx with their own passphrases', () => {
    const pfx = (options) => valuesOf(options, OPTION.PFX)
    const bytes = Buffer.from('p')
    assert.deepEqual(pfx({ pfx: bytes }), [bytes])
    assert.deepEqual(pfx({ pfx: null }), [])
    assert.deepEqual(pfx({ pfx: [] }), [])
    assert.deepEqual(pfx({ pfx: 'a', passphrase: '' }), ['a'])
    assert.deepEqual(pfx({ pfx: 'a', passphrase: 'p' }), [['a', 'p']])
    assert.deepEqual(pfx({ pfx: 'a', passphrase: bytes }), [['a', bytes]])
    assert.deepEqual(pfx({
      pfx: ['a', { buf: bytes }, { buf: 'c', passphrase: 'q' },
        { buf: 'd', passphrase: '' }],
      passphrase: 'p'
    }), [['a', 'p'], [bytes, 'p'], ['c', 'q'], ['d', 'p']])
    assert.deepEqual(pfx({ pfx: ['a'], passphrase: '' }), [['a', '']])
    assert.deepEqual(pfx({ pfx: ['a'], passphrase: null }), ['a'])
  })

  it('passes automatic DH parameters as empty, and empty ones not at all',
    () => {
      const dh = (dhparam) => valuesOf({ dhparam }, OPTION.DH_PARAM)
      assert.deepEqual(dh('auto'), [''])
      assert.deepEqual(dh('pem'), ['pem'])
      assert.deepEqual(dh(''), [])
      assert.deepEqual(dh(Buffer.alloc(0)), [])
      assert.deepEqual(dh(null), [])
    })

  it('does not pass the curve auto', () => {
    const curve = (ecdhCurve) => valuesOf({ ecdhCurve }, OPTION.ECDH_CURVE)
    assert.deepEqual(curve(undefined), [])
    assert.deepEqual(curve('auto'), [])
    assert.deepEqual(curve(''), [''])
    assert.deepEqual(curve('X25519:P-256'), ['X25519:P-256'])
  })

  it('leaves engines to node:tls', () => {
    for (const options of [{ clientCertEngine: 'x' }, { clientCertEngine: 5 },
      { privateKeyIdentifier: 'x' },
      { privateKeyIdentifier: 'x', privateKeyEngine: 'y' }]) {
      const { fields, unsupported } = flattenContextOptions(options)
      assert.equal(fields, null)
      assert.equal(unsupported, Object.keys(options)[0])
    }
    assert.equal(flattenContextOptions({
      clientCertEngine: null, privateKeyIdentifier: undefined
    }).unsupported, null)
    // node does not look at it either.
    assert.equal(flattenContextOptions({ privateKeyEngine: 5 }).unsupported,
      null)
  })

  it('leaves certificate compression to the versions of node that have it',
    () => {
      const { unsupported } = flattenContextOptions({
        certificateCompression: ['zlib']
      })
      assert.equal(unsupported,
        typeof tls.getCertificateCompressionAlgorithms === 'function'
          ? 'certificateCompression'
          : null)
      for (const certificateCompression of [[], null, undefined]) {
        assert.equal(
          flattenContextOptions({ certificateCompression }).unsupported, null)
      }
    })

  it('ignores every option that is not for a context', () => {
    assert.deepEqual(flattenContextOptions({
      ca: 'x',
      host: 'h',
      servername: 's',
      rejectUnauthorized: false,
      session: Buffer.alloc(3),
      ALPNProtocols: ['x'],
      singleUse: true,
      method: 'GET'
    }), flattenContextOptions({ ca: 'x' }))
  })
})
