'use strict'

const assert = require('node:assert/strict')
const tls = require('node:tls')

const { checkIdentity, identityId, identityName, isDefaultCheck } =
  require('../../lib/identity')

const { checkServerIdentity } = tls
const CERTIFICATE = { subject: {}, subjectaltname: 'DNS:good.test' }

let serial = 0
/** A fingerprint that no test has used before. */
const fingerprint = () => String(++serial).padStart(32, '#')

/** A maker of certificates that counts how often it is asked. */
function counted (certificate = CERTIFICATE) {
  const get = () => {
    get.calls++
    return certificate
  }
  get.calls = 0
  return get
}

describe('identityName', () => {
  it('takes servername, host, the name of the socket, localhost', () => {
    const socket = { _host: 'c' }
    const cases = [
      [{ servername: 'a', host: 'b', socket }, 'a'],
      [{ servername: '', host: 'b', socket }, 'b'],
      [{ servername: null, socket }, 'c'],
      [{ socket: {} }, 'localhost'],
      [{ socket: null }, 'localhost'],
      [{}, 'localhost']
    ]
    for (const [options, expected] of cases) {
      assert.equal(identityName(options), expected)
    }
  })
})

describe('identityId', () => {
  it('is one number for one function', () => {
    const one = () => {}
    const two = () => {}
    assert.equal(identityId(one), identityId(one))
    assert.notEqual(identityId(one), identityId(two))
    assert.notEqual(identityId(one), identityId(checkServerIdentity))
    assert.equal(Number.isInteger(identityId(two)), true)
  })
})

describe('isDefaultCheck', () => {
  const path = require.resolve('../../lib/identity')
  /** lib/identity.js, loaded after somebody has put this function there. */
  function loadedAfter (check) {
    const cached = require.cache[path]
    delete require.cache[path]
    tls.checkServerIdentity = check
    try {
      return require(path)
    } finally {
      tls.checkServerIdentity = checkServerIdentity
      require.cache[path] = cached
    }
  }

  it('is true of the function that came with node alone', () => {
    const ours = () => {}
    assert.equal(isDefaultCheck(checkServerIdentity), true)
    assert.equal(isDefaultCheck(ours), false)
    const wrapped = (...args) => checkServerIdentity(...args)
    const bound = checkServerIdentity.bind(tls)
    for (const earlier of [ours, wrapped, bound]) {
      assert.equal(loadedAfter(earlier).isDefaultCheck(earlier), false)
    }
  })

  it('decides about remembering: an earlier replacement is asked each time', () => {
    let revoked = false
    const replacement = () => revoked ? new Error('revoked') : undefined
    const fresh = loadedAfter(replacement)
    const options = { host: 'good.test', checkServerIdentity: replacement }
    const print = fingerprint()
    assert.equal(fresh.checkIdentity(options, print, counted()), undefined)
    revoked = true
    assert.equal(fresh.checkIdentity(options, print, counted()).message, 'revoked')
  })
})

describe('checkIdentity', () => {
  const check = (host, print, get, checkServerIdentity_ =
  checkServerIdentity) =>
    checkIdentity({ host, checkServerIdentity: checkServerIdentity_ }, print,
      get)

  it('asks for a certificate once if it was accepted', () => {
    const print = fingerprint()
    const get = counted()
    assert.equal(check('good.test', print, get), undefined)
    assert.equal(check('good.test', print, get), undefined)
    assert.equal(get.calls, 1)
  })

  it('never remembers a refusal', () => {
    const print = fingerprint()
    const get = counted()
    for (let i = 1; i <= 2; i++) {
      const error = check('bad.test', print, get)
      assert.equal(error.code, 'ERR_TLS_CERT_ALTNAME_INVALID')
      assert.equal(error.cert, CERTIFICATE)
      assert.equal(get.calls, i)
    }
  })

  it('tells names and certificates apart', () => {
    const one = fingerprint()
    const get = counted()
    check('good.test', one, get)
    assert.notEqual(check('bad.test', one, get), undefined)
    assert.notEqual(check('good.test', fingerprint(),
      counted({ subject: {}, subjectaltname: 'DNS:other.test' })), undefined)
    assert.notEqual(check('good.test\0', one, get), undefined)
    assert.equal(get.calls, 3)
  })

  it('calls functions of users every time, with name and certificate', () => {
    const print = fingerprint()
    const calls = []
    const options = {
      servername: 'good.test',
      checkServerIdentity (...args) {
        calls.push([this, ...args])
      }
    }
    const get = counted()
    checkIdentity(options, print, get)
    checkIdentity(options, print, get)
    assert.deepEqual(calls, Array(2).fill([options, 'good.test', CERTIFICATE]))
    // Nor does node's own check profit from what they accepted.
    check('good.test', print, get)
    assert.equal(get.calls, 3)
  })

  it('gives back whatever a function of a user returns', () => {
    for (const value of [undefined, null, false, 'text', 5, new Error('x')]) {
      assert.equal(check('x', fingerprint(), counted(), () => value), value)
    }
  })

  it('lets through what a function of a user throws', () => {
    const thrown = new Error('from the user')
    assert.throws(() => check('x', fingerprint(), counted(), () => {
      throw thrown
    }), (error) => error === thrown)
  })

  it('remembers nothing without a fingerprint or a proper name', () => {
    const get = counted()
    check('good.test', null, get)
    check('good.test', null, get)
    const odd = { toString: () => 'good.test' }
    const print = fingerprint()
    check(odd, print, get)
    check(odd, print, get)
    assert.equal(get.calls, 4)
  })

  it('forgets the oldest when it remembers too much', () => {
    const first = fingerprint()
    const get = counted()
    check('good.test', first, get)
    for (let i = 0; i < 1024; i++) check('good.test', fingerprint(), counted())
    check('good.test', first, get)
    assert.equal(get.calls, 2)
  })
})
