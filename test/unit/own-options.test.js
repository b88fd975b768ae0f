'use strict'

const assert = require('node:assert/strict')
const { inspect } = require('node:util')

const {
  findOptionsBeside, validateOwnOptions
} = require('../../lib/own-options')

const TYPE = 'ERR_INVALID_ARG_TYPE'
const VALUE = 'ERR_INVALID_ARG_VALUE'
const RANGE = 'ERR_OUT_OF_RANGE'

const WRONG = [
  ...[null, 0, 1, 'true', '', {}, [], () => {}].flatMap((value) => [
    ['singleUse', value, TYPE], ['sessionReuse', value, TYPE]]),
  ...[null, '5', true, {}, 10n, Symbol('s')].map((value) =>
    ['handshakeTimeout', value, TYPE]),
  ...[-1, 1.5, NaN, Infinity, 2 ** 31].map((value) =>
    ['handshakeTimeout', value, RANGE]),
  ...[null, 5, true, ['fd'], {}].flatMap((value) => [
    ['transport', value, TYPE], ['offload', value, TYPE]]),
  ...['', 'FD', 'always', 'streams', 'fd '].map((value) =>
    ['transport', value, VALUE]),
  ...['', 'AUTO', 'fd', 'sometimes'].map((value) => ['offload', value, VALUE])
]

const RIGHT = [
  {},
  {
    singleUse: undefined,
    sessionReuse: undefined,
    handshakeTimeout: undefined,
    transport: undefined,
    offload: undefined
  },
  { singleUse: true, sessionReuse: false },
  { singleUse: false, sessionReuse: true },
  { handshakeTimeout: 0 },
  { handshakeTimeout: 2 ** 31 - 1 },
  ...['auto', 'fd', 'stream'].map((transport) => ({ transport })),
  ...['auto', 'always', 'never'].map((offload) => ({ offload })),
  // Not ours: somebody else's business.
  { timeout: 'x', keepAlive: 5, noDelay: {}, method: 'GET', singleuse: 5 }
]

describe('validateOwnOptions', () => {
  for (const [name, value, code] of WRONG) {
    it(`refuses ${name}: ${inspect(value)}`, () => {
      assert.throws(() => validateOwnOptions({ [name]: value }), (error) => {
        assert.equal(error.code, code)
        assert.match(error.message, new RegExp(`options\\.${name}`))
        return true
      })
    })
  }

  for (const options of RIGHT) {
    it(`accepts ${inspect(options, { breakLength: Infinity })}`, () => {
      validateOwnOptions(options)
    })
  }

  it('names the choices', () => {
    assert.throws(() => validateOwnOptions({ transport: 'tcp' }), {
      message: "The property 'options.transport' must be one of: 'auto', " +
        "'fd', 'stream'. Received 'tcp'"
    })
  })
})

describe('createSecureContext', () => {
  const backends = {
    'of the package': require('../..'),
    'of the node backend': require('../../lib/node-backend')
  }
  for (const [name, { createSecureContext }] of Object.entries(backends)) {
    it(`${name} refuses a wrong singleUse`, () => {
      for (const singleUse of [null, 1, 'true', {}]) {
        assert.throws(() => createSecureContext({ singleUse }), {
          code: TYPE, message: /"options\.singleUse"/
        })
      }
      for (const singleUse of [true, false, undefined]) {
        createSecureContext({ ca: [], singleUse }).close()
      }
    })
  }
})

describe('findOptionsBeside', () => {
  const options = { ca: [] }
  const callback = () => {}

  it('finds the options wherever they are, or none', () => {
    for (const rest of [[options], [options, callback], [null, options],
      [undefined, options, callback], [callback, options]]) {
      assert.equal(findOptionsBeside(rest), options)
    }
    for (const rest of [[], [callback], [undefined], [null, callback]]) {
      assert.equal(findOptionsBeside(rest), undefined)
    }
  })

  it('refuses what belongs to other forms, so that no options get lost', () => {
    for (const wrong of ['host', '', 443, 0, true, false, 5n, Symbol('s')]) {
      for (const rest of [[wrong], [wrong, options], [options, wrong]]) {
        assert.throws(() => findOptionsBeside(rest), {
          code: TYPE, message: /^The "options" argument must be of type object/
        })
      }
    }
  })
})
