'use strict'

const assert = require('node:assert/strict')

const { unwrapSession, validateSession, wrapSession } =
  require('../../lib/session-format')

const NODE_MAJOR = Number(process.versions.node.split('.')[0])
const WRAPS = NODE_MAJOR >= 22
const der = Buffer.from('3082ff', 'hex')

/** The form of Node 22 and later, made by hand. */
function wrapped (name, session = der) {
  const length = Buffer.alloc(2)
  length.writeUInt16BE(Buffer.byteLength(name))
  return Buffer.concat([
    Buffer.from('\0nodejs:tls:session:1\0', 'latin1'), length, Buffer.from(name), session
  ])
}

describe('the format of sessions', () => {
  it('is what the running version gives', () => {
    const given = wrapSession(der, { servername: 'bücher.example' })
    assert.deepEqual(given, WRAPS ? wrapped('bücher.example') : der)
    assert.deepEqual(wrapSession(der, null), WRAPS ? wrapped('localhost') : der)
  })

  // Row "sessions of newer versions" of docs/compat.md.
  it('is understood in its newer form by all versions, for the same name only', () => {
    const options = { host: 'a.example' }
    assert.deepEqual(unwrapSession(wrapped('a.example'), options), der)
    assert.equal(unwrapSession(wrapped('b.example'), options), null)
    assert.deepEqual(unwrapSession(wrapped('localhost'), null), der)
  })

  it('is understood without a name where the running version does', () => {
    const lax = { rejectUnauthorized: false }
    assert.deepEqual(unwrapSession(der, lax), der)
    assert.deepEqual(unwrapSession(new Uint8Array(der), lax), der)
    assert.deepEqual(unwrapSession(der.toString('latin1'), lax), der)
    assert.deepEqual(unwrapSession(der, {}), WRAPS ? null : der)
  })

  it('is no string for connect() in older versions', () => {
    const refuse = { name: 'TypeError', code: 'ERR_INVALID_ARG_TYPE', message: 'Session must be a buffer' }
    if (WRAPS) validateSession('session')
    else assert.throws(() => validateSession('session'), refuse)
    validateSession(der)
    assert.throws(() => validateSession(5), refuse)
    assert.throws(() => unwrapSession({}, {}), refuse)
  })

  it('may be cut short', () => {
    const whole = wrapped('a.example')
    for (let length = 0; length < whole.length; length++) {
      const cut = unwrapSession(whole.subarray(0, length), { host: 'a.example' })
      assert.ok(cut === null || cut.length <= length)
    }
  })
})
