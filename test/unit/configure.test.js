'use strict'

const assert = require('node:assert/strict')
const { inspect } = require('node:util')

const { createConfigure } = require('../../lib/configure')

const DEFAULTS = {
  contexts: { max: 256, idleTimeout: 300_000 },
  sessions: { enabled: true, maxPeers: 1024, perPeer: 8, timeout: 7_200_000 },
  offload: 'auto'
}

const TYPE = 'ERR_INVALID_ARG_TYPE'
const VALUE = 'ERR_INVALID_ARG_VALUE'
const RANGE = 'ERR_OUT_OF_RANGE'

const numbers = [['contexts', 'max'], ['contexts', 'idleTimeout'],
  ['sessions', 'maxPeers'], ['sessions', 'perPeer'], ['sessions', 'timeout']]
const WRONG = [
  ...[null, 5, 'x', true, [], () => {}].map((value) => [value, TYPE]),
  ...[null, 5, 'x', [], true].flatMap((value) => [
    [{ contexts: value }, TYPE], [{ sessions: value }, TYPE]]),
  ...numbers.flatMap(([group, name]) => [
    ...[null, '5', true, {}, 5n].map((value) =>
      [{ [group]: { [name]: value } }, TYPE]),
    ...[-1, 1.5, NaN, Infinity, 2 ** 31].map((value) =>
      [{ [group]: { [name]: value } }, RANGE])
  ]),
  ...[null, 1, 'true'].map((enabled) => [{ sessions: { enabled } }, TYPE]),
  [{ offload: 5 }, TYPE],
  [{ offload: 'sometimes' }, VALUE],
  [{ ofload: 'auto' }, VALUE],
  [{ contexts: { maximum: 5 } }, VALUE],
  [{ sessions: { max: 5 } }, VALUE],
  [{ toString: 5 }, VALUE],
  [{ unknown: undefined }, VALUE],
  [JSON.parse('{ "__proto__": {} }'), VALUE]
]

describe('configure', () => {
  it('puts the defaults in force at once', () => {
    const applied = []
    const configure = createConfigure((settings) => applied.push(settings))
    assert.deepEqual(applied, [DEFAULTS])
    assert.deepEqual(configure(), DEFAULTS)
    assert.equal(applied.length, 1)
  })

  it('changes what is given and leaves the rest', () => {
    let inForce
    const configure = createConfigure((settings) => { inForce = settings })
    configure({ contexts: { max: 3 } })
    configure({ sessions: { enabled: false, perPeer: 0 }, offload: 'never' })
    configure({ contexts: undefined, sessions: { maxPeers: undefined } })
    const expected = {
      contexts: { ...DEFAULTS.contexts, max: 3 },
      sessions: { ...DEFAULTS.sessions, enabled: false, perPeer: 0 },
      offload: 'never'
    }
    assert.deepEqual(inForce, expected)
    assert.deepEqual(configure({}), expected)
  })

  it('takes the ends of each range', () => {
    const configure = createConfigure(() => {})
    for (const [group, name] of numbers) {
      for (const value of [0, 2 ** 31 - 1]) {
        assert.equal(configure({ [group]: { [name]: value } })[group][name],
          value)
      }
    }
  })

  it('gives objects that nobody else has', () => {
    let inForce
    const configure = createConfigure((settings) => { inForce = settings })
    const given = { contexts: { max: 5 } }
    const result = configure(given)
    result.contexts.max = 6
    given.contexts.max = 7
    assert.equal(inForce.contexts.max, 5)
    assert.equal(configure().contexts.max, 5)
  })

  for (const [changes, code] of WRONG) {
    it(`refuses ${inspect(changes)}`, () => {
      let calls = 0
      const configure = createConfigure(() => { calls++ })
      assert.throws(() => configure(changes), { code })
      assert.equal(calls, 1)
      assert.deepEqual(configure(), DEFAULTS)
    })
  }

  it('changes nothing if a later part is wrong', () => {
    const configure = createConfigure(() => {})
    assert.throws(() => configure({
      contexts: { max: 1 }, sessions: { enabled: false }, offload: 'x'
    }), { code: VALUE })
    assert.deepEqual(configure(), DEFAULTS)
  })

  it('changes nothing if it cannot be applied', () => {
    let fail = false
    const configure = createConfigure(() => {
      if (fail) throw new Error('cannot')
    })
    fail = true
    assert.throws(() => configure({ offload: 'never' }), /cannot/)
    assert.deepEqual(configure(), DEFAULTS)
  })
})
