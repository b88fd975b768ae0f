'use strict'

const assert = require('node:assert/strict')
const { once } = require('node:events')
const net = require('node:net')
const { join } = require('node:path')
const { performance } = require('node:perf_hooks')
const { Duplex } = require('node:stream')
const tls = require('node:tls')

const errors = require('../../lib/errors')
const { describeReceived } = errors

function catchError (call) {
  try {
    call()
  } catch (error) {
    return error
  }
  assert.fail('did not throw')
}

/** All that tells one error from another, stack frames left out. */
function portrait (error) {
  return {
    name: error.name,
    message: error.message,
    string: String(error),
    json: JSON.stringify(error),
    firstLine: error.stack.split('\n', 1)[0],
    constructor: error.constructor,
    own: Object.getOwnPropertyNames(error).sort(),
    code: Object.getOwnPropertyDescriptor(error, 'code'),
    messageIsHidden: !Object.keys(error).includes('message')
  }
}

describe('errors', () => {
  it('look like errors of node in every respect', () => {
    assert.deepEqual(
      portrait(new errors.ERR_INVALID_ARG_TYPE('options.ca',
        ['string', 'Buffer', 'TypedArray', 'DataView'], 5)),
      portrait(catchError(() => tls.createSecureContext({ ca: 5 }))))
    assert.deepEqual(
      portrait(new errors.ERR_OUT_OF_RANGE('secureOptions', 'an integer', 1.5)),
      portrait(catchError(() =>
        tls.createSecureContext({ secureOptions: 1.5 }))))
    assert.deepEqual(
      portrait(new errors.ERR_TLS_INVALID_PROTOCOL_VERSION('x', 'minimum')),
      portrait(catchError(() => tls.createSecureContext({ minVersion: 'x' }))))
    assert.deepEqual(
      portrait(errors.bindingError(TypeError, 'ERR_TLS_INVALID_PROTOCOL_METHOD',
        'Unknown method: x')),
      portrait(catchError(() =>
        tls.createSecureContext({ secureProtocol: 'x' }))))
  })

  it('have a stack that starts where they were made', () => {
    function here () { return new errors.ERR_SOCKET_CLOSED() }
    const [first, second] = here().stack.split('\n')
    assert.equal(first, 'Error [ERR_SOCKET_CLOSED]: Socket is closed')
    assert.match(second, /at here /)
  })

  it('describe wrong values as node does', () => {
    class Foo {}
    const nameless = new (class {})()
    const values = [undefined, null, 0, -0, 1.5, NaN, Infinity, -Infinity, 5n,
      true, false, '', 'short', "it's", 'x'.repeat(28), 'x'.repeat(29),
      "'".repeat(40), 'new\nline', Symbol('s'), Symbol.iterator, () => {},
      function f () {}, class Bar {}, {}, [], new Foo(), nameless,
      Object.create(null), Object.create(Foo.prototype), new Map(), /x/,
      new Date(0), Promise.resolve(), Buffer.alloc(1), new ArrayBuffer(1),
      new Proxy({}, {}), { constructor: undefined }, new Error('x')]
    for (const value of values) {
      // A string here and a function there: neither accepts any of them.
      const { message } = catchError(() => typeof value === 'function'
        ? join(value)
        : performance.timerify(value))
      assert.equal(message.slice(message.indexOf('Received ') + 9),
        describeReceived(value), message)
    }
  })

  it('list what is expected as node does', () => {
    const text = (expected) =>
      /must be (.*)\. Received/.exec(
        new errors.ERR_INVALID_ARG_TYPE('x', expected, 5).message)[1]
    assert.equal(text('string'), 'of type string')
    assert.equal(text(['string', 'number']), 'one of type string or number')
    assert.equal(text(['string', 'number', 'Function']),
      'one of type string, number, or function')
    assert.equal(text('Duplex'), 'an instance of Duplex')
    assert.equal(text(['Buffer', 'TypedArray', 'DataView']),
      'an instance of Buffer, TypedArray, or DataView')
    assert.equal(text(['string', 'Buffer']),
      'of type string or an instance of Buffer')
    assert.equal(text(['object', 'Buffer']),
      'an instance of Buffer or Object')
    assert.equal(text(['string', 'null', 'undefined']),
      'of type string or one of null or undefined')
    assert.equal(text(['string', 'null']), 'of type string or null')
    assert.equal(text('object'), 'of type object')
  })

  it('name properties, arguments and positions as node does', () => {
    const subject = (name) =>
      new errors.ERR_INVALID_ARG_TYPE(name, 'string', 5).message
        .split(' must')[0]
    assert.equal(subject('a'), 'The "a" argument')
    assert.equal(subject('a.b'), 'The "a.b" property')
    assert.equal(subject('first argument'), 'The first argument')
    assert.equal(new errors.ERR_INVALID_ARG_VALUE('a', 'b').message,
      "The argument 'a' is invalid. Received 'b'")
    assert.equal(new errors.ERR_INVALID_ARG_VALUE('o.a', [''], 'is bad').message,
      "The property 'o.a' is bad. Received [ '' ]")
  })

  it('cut long values short', () => {
    const { message } = new errors.ERR_INVALID_ARG_VALUE('a', 'x'.repeat(200))
    assert.equal(message,
      `The argument 'a' is invalid. Received '${'x'.repeat(127)}...`)
  })

  it('separate thousands as node does', () => {
    for (const value of [2 ** 53, -(2 ** 53), 1e21, 2 ** 60, -(2 ** 60)]) {
      assert.equal(
        new errors.ERR_OUT_OF_RANGE('secureOptions',
          '>= -9007199254740991 && <= 9007199254740991', value).message,
        catchError(() => tls.createSecureContext({ secureOptions: value }))
          .message)
    }
    assert.match(new errors.ERR_OUT_OF_RANGE('a', '> 0', 2n ** 40n).message,
      /1_099_511_627_776n$/)
    assert.match(new errors.ERR_OUT_OF_RANGE('a', '> 0', 4294967296).message,
      /Received 4294967296$/)
  })

  it('have the texts of node where no argument is needed', () => {
    for (const [code, message] of [
      ['ERR_TLS_HANDSHAKE_TIMEOUT', 'TLS handshake timeout'],
      ['ERR_SOCKET_CLOSED', 'Socket is closed'],
      ['ERR_TLS_INVALID_STATE',
        'TLS socket connection must be securely established'],
      ['ERR_TLS_RENEGOTIATION_DISABLED',
        'TLS session renegotiation disabled for this socket'],
      ['ERR_CRYPTO_CUSTOM_ENGINE_NOT_SUPPORTED',
        'Custom engines not supported by this OpenSSL']
    ]) {
      const error = new errors[code]()
      assert.ok(error instanceof Error)
      assert.equal(error.code, code)
      assert.equal(error.message, message)
    }
  })

  it('have the texts of node in a TLS socket', () => {
    const socket = new tls.TLSSocket(new Duplex({ read () {}, write () {} }))
    assert.deepEqual(portrait(new errors.ERR_TLS_INVALID_STATE()),
      portrait(catchError(() => socket.exportKeyingMaterial(5, 'x'))))
    assert.deepEqual(
      portrait(catchError(() =>
        tls.connect({ secureContext: {}, socket: new Duplex({ read () {} }) }))),
      portrait(new errors.ERR_TLS_INVALID_CONTEXT('context')))
    socket.destroy()
  })

  it('of missing arguments read as those of net.connect', () => {
    const expected = catchError(() => net.connect())
    assert.equal(
      new errors.ERR_MISSING_ARGS(['options', 'port', 'path']).message,
      expected.message)
    assert.equal(new errors.ERR_MISSING_ARGS('a', 'b').message,
      'The "a" and "b" arguments must be specified')
  })

  it('of system calls look like those of node', async () => {
    const server = net.createServer()
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    const client = net.connect(server.address().port, '127.0.0.1')
    const [[peer]] = await Promise.all([
      once(server, 'connection'), once(client, 'connect')
    ])
    peer.resetAndDestroy()
    const [expected] = await once(client, 'error')
    server.close()
    assert.equal(expected.syscall, 'read')
    const error = errors.errnoError(expected.errno, 'read')
    assert.deepEqual({ ...error }, { ...expected })
    assert.deepEqual(Object.keys(error), Object.keys(expected))
    assert.equal(error.message, expected.message)
    assert.equal(error.constructor, expected.constructor)
  })

  it('of a disconnect look like those of node', async () => {
    const server = net.createServer((peer) => peer.end())
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    const options = { port: server.address().port, host: '127.0.0.1' }
    const client = tls.connect(options)
    const [expected] = await once(client, 'error')
    server.close()
    const error = errors.disconnectedError(options)
    assert.deepEqual({ ...error }, { ...expected })
    assert.deepEqual(Object.keys(error), Object.keys(expected))
    assert.equal(error.message, expected.message)
    assert.equal(error.constructor, expected.constructor)
  })

  it('of an abort look like those of streams', async () => {
    const controller = new AbortController()
    const stream = new Duplex({ read () {}, signal: controller.signal })
    controller.abort()
    const [expected] = await once(stream, 'error')
    const error = errors.abortError(controller.signal.reason)
    assert.deepEqual({ ...error }, { ...expected })
    assert.equal(error.cause, expected.cause)
    assert.deepEqual({ ...portrait(error), constructor: null },
      { ...portrait(expected), constructor: null })
    assert.equal(error.constructor.name, expected.constructor.name)
    assert.equal('cause' in errors.abortError(), false)
  })

  it('of our own say what happened', () => {
    const leftover = new errors.ERR_EAGER_TLS_LEFTOVER_PLAINTEXT(12)
    assert.equal(leftover.code, 'ERR_EAGER_TLS_LEFTOVER_PLAINTEXT')
    assert.match(leftover.message, /^12 bytes of unread plaintext/)
    assert.match(new errors.ERR_EAGER_TLS_TRANSPORT('no descriptor').message,
      /no descriptor$/)
    assert.match(String(new errors.ERR_EAGER_TLS_CONTEXT_CLOSED()),
      /^Error \[ERR_EAGER_TLS_CONTEXT_CLOSED\]: /)
    assert.match(new errors.ERR_EAGER_TLS_INTERNAL('x').message, /x$/)
  })
})
