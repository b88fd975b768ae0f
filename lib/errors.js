'use strict'

/**
 * Every error that this package makes itself: one table. Those with a code of
 * node's have its class, message, `code`, and the code in the first line of
 * the stack, so that nobody can tell who made them.
 *
 *   throw new errors.ERR_INVALID_ARG_TYPE('options.socket', 'Duplex', value)
 */

const { constants } = require('node:os')
const { inspect, getSystemErrorName } = require('node:util')

const NODE_MAJOR = Number(process.versions.node.split('.', 1)[0])
const RECEIVED_STRING_MAX = 28
const RECEIVED_STRING_CUT = 25
const RECEIVED_VALUE_MAX = 128

// What node calls types when it lists what it would have liked; every other
// word that looks like a class name is a class.
const TYPE_WORDS = new Set([
  'string', 'function', 'number', 'object', 'Function', 'Object', 'boolean',
  'bigint', 'symbol'
])
const CLASS_WORD = /^([A-Z][a-z0-9]*)+$/

/** "a", "a or b", "a, b, or c" */
function enumerate (words) {
  if (words.length < 3) return words.join(' or ')
  return `${words.slice(0, -1).join(', ')}, or ${words[words.length - 1]}`
}

/**
 * What should have come, as node puts it.
 *
 * @param {string[]} expected types, class names and literal words
 * @returns {string}
 */
function describeExpected (expected) {
  const types = expected.filter((word) => TYPE_WORDS.has(word))
    .map((word) => word.toLowerCase())
  const classes = expected
    .filter((word) => !TYPE_WORDS.has(word) && CLASS_WORD.test(word))
  const words = expected
    .filter((word) => !TYPE_WORDS.has(word) && !CLASS_WORD.test(word))

  const object = types.indexOf('object')
  if (classes.length > 0 && object !== -1) {
    types.splice(object, 1)
    classes.push('Object')
  }
  const parts = []
  if (types.length > 0) {
    parts.push(`${types.length > 1 ? 'one of' : 'of'} type ${enumerate(types)}`)
  }
  if (classes.length > 0) parts.push(`an instance of ${enumerate(classes)}`)
  if (words.length > 1) parts.push(`one of ${enumerate(words)}`)
  if (words.length === 1) {
    const [word] = words
    parts.push(word.toLowerCase() === word ? word : `an ${word}`)
  }
  return parts.join(' or ')
}

/** "type number (5)", "an instance of Foo", "undefined", "function f" */
function describeReceived (value) {
  if (value == null) return String(value)
  switch (typeof value) {
    case 'function':
      return `function ${value.name}`
    case 'object':
      return describeObject(value)
    case 'string':
      return `type string (${quote(value)})`
    case 'bigint':
      return `type bigint (${value}n)`
    case 'number':
      return `type number (${Object.is(value, -0) ? '-0' : value})`
    default:
      return `type ${typeof value} (${String(value)})`
  }
}

function describeObject (value) {
  const name = value.constructor?.name
  // Until 22 a class without a name was called by its empty name.
  if (typeof name === 'string' && (name !== '' || NODE_MAJOR < 24)) {
    return `an instance of ${name}`
  }
  return inspect(value, { depth: -1 })
}

function quote (string) {
  if (string.length > RECEIVED_STRING_MAX) {
    string = `${string.slice(0, RECEIVED_STRING_CUT)}...`
  }
  return string.includes("'") ? JSON.stringify(string) : `'${string}'`
}

function inspectShort (value) {
  const text = inspect(value)
  return text.length > RECEIVED_VALUE_MAX
    ? `${text.slice(0, RECEIVED_VALUE_MAX)}...`
    : text
}

/** Thousands are separated where node does: beyond 32 bits. */
function inspectNumber (value) {
  const big = typeof value === 'bigint'
  const large = big
    ? value > 2n ** 32n || value < -(2n ** 32n)
    : Number.isInteger(value) && Math.abs(value) > 2 ** 32
  if (!large) return inspect(value)
  // Groups of three from the end, whatever they hold: 1e_+21.
  const digits = String(value).replace(/(?<=[^-])(?=(?:.{3})+$)/g, '_')
  return big ? `${digits}n` : digits
}

const kind = (name) => name.includes('.') ? 'property' : 'argument'

// code -> [class, message or function of the arguments]
const TABLE = {
  // Ours
  ERR_EAGER_TLS_LEFTOVER_PLAINTEXT: [Error, (bytes) =>
    `${bytes} bytes of unread plaintext were waiting in the socket when it ` +
    'was upgraded'],
  ERR_EAGER_TLS_TRANSPORT: [Error, (reason) =>
    `The fd transport cannot carry this connection: ${reason}`],
  ERR_EAGER_TLS_CONTEXT_CLOSED: [Error, 'The secure context is closed'],
  ERR_EAGER_TLS_INTERNAL: [Error, (what) => `Internal error: ${what}`],

  // Node's, arguments
  ERR_INVALID_ARG_TYPE: [TypeError, (name, expected, actual) => {
    const subject = name.endsWith(' argument')
      ? name
      : `"${name}" ${kind(name)}`
    return `The ${subject} must be ${describeExpected([].concat(expected))}. ` +
      `Received ${describeReceived(actual)}`
  }],
  ERR_INVALID_ARG_VALUE: [TypeError, (name, value, reason = 'is invalid') =>
    `The ${kind(name)} '${name}' ${reason}. Received ${inspectShort(value)}`],
  ERR_OUT_OF_RANGE: [RangeError, (name, range, value) =>
    `The value of "${name}" is out of range. It must be ${range}. ` +
    `Received ${inspectNumber(value)}`],
  ERR_MISSING_ARGS: [TypeError, (...names) => {
    const quoted = names.map((name) =>
      [].concat(name).map((choice) => `"${choice}"`).join(' or '))
    const list = quoted.length > 2
      ? `${quoted.slice(0, -1).join(', ')}, and ${quoted[quoted.length - 1]}`
      : quoted.join(' and ')
    return `The ${list} argument${quoted.length > 1 ? 's' : ''} must be ` +
      'specified'
  }],

  // Node's, streams and sockets
  ERR_SOCKET_CLOSED: [Error, 'Socket is closed'],
  ERR_SOCKET_CLOSED_BEFORE_CONNECTION: [Error,
    'Socket closed before the connection was established'],
  ERR_STREAM_DESTROYED: [Error, (method) =>
    `Cannot call ${method} after a stream was destroyed`],
  ERR_STREAM_WRAP: [Error,
    'Stream has StringDecoder set or is in objectMode'],

  // Node's, TLS
  ERR_CRYPTO_CUSTOM_ENGINE_NOT_SUPPORTED: [Error,
    'Custom engines not supported by this OpenSSL'],
  ERR_TLS_DH_PARAM_SIZE: [Error, (bits) =>
    `DH parameter size ${bits} is less than 2048`],
  ERR_TLS_HANDSHAKE_TIMEOUT: [Error, 'TLS handshake timeout'],
  ERR_TLS_INVALID_CONTEXT: [TypeError, (name) =>
    `${name} must be a SecureContext`],
  ERR_TLS_INVALID_PROTOCOL_VERSION: [TypeError, (version, which) =>
    `${JSON.stringify(version)} is not a valid ${which} TLS protocol version`],
  ERR_TLS_INVALID_STATE: [Error,
    'TLS socket connection must be securely established'],
  ERR_TLS_PROTOCOL_VERSION_CONFLICT: [TypeError, (version, method) =>
    `TLS protocol version ${JSON.stringify(version)} conflicts with ` +
    `secureProtocol ${JSON.stringify(method)}`],
  ERR_TLS_RENEGOTIATION_DISABLED: [Error,
    'TLS session renegotiation disabled for this socket'],
  ERR_TLS_SNI_FROM_SERVER: [Error,
    'Cannot issue SNI from a TLS server-side socket']
}

/** Descriptors inherit nothing: whatever somebody has put on Object.prototype,
 * an error must come about. */
function hide (object, name, value) {
  Object.defineProperty(object, name, {
    __proto__: null, configurable: true, enumerable: false, value, writable: true
  })
}

/** One class of the table. Its instances pass for instances of Base. */
function define (code, Base, message) {
  const format = typeof message === 'string' ? () => message : message
  const EagerTLSError = class extends Base {
    constructor (...args) {
      super(format(...args))
      // The stack takes its first line from `name` when it is first read.
      hide(this, 'name', `${super.name} [${code}]`)
      hide(this, 'stack', this.stack)
      delete this.name
      this.code = code
    }

    toString () {
      return `${this.name} [${code}]: ${this.message}`
    }
  }
  Object.defineProperty(EagerTLSError.prototype, 'constructor', {
    configurable: true, enumerable: false, get: () => Base
  })
  return EagerTLSError
}

/**
 * An error as node's C++ half makes it: only the code is added to it.
 *
 * @param {ErrorConstructor} Base
 * @param {string} code
 * @param {string} message
 * @returns {Error}
 */
function bindingError (Base, code, message) {
  const error = new Base(message)
  error.code = code
  return error
}

/**
 * The error of a failed system call, as node's ErrnoException.
 *
 * @param {number} errno negative, as libuv has it
 * @param {string} syscall
 * @returns {Error}
 */
function errnoError (errno, syscall) {
  const code = getSystemErrorName(errno)
  const error = new Error(`${syscall} ${code}`)
  error.errno = errno
  error.code = code
  error.syscall = syscall
  return error
}

/**
 * A handshake failed while a write waited for it: node reports the write.
 *
 * @param {Error} failure of the connection
 * @returns {Error}
 */
function writeError (failure) {
  const error = errnoError(-constants.errno.EPROTO, 'write')
  error.message += ` ${failure.message}`
  return error
}

/**
 * What a write is called back with that was under way when its socket was
 * destroyed.
 *
 * @param {object} written of WriteQueue's close()
 * @param {boolean} isSecured the handshake was complete
 * @returns {Error | null} before Node 22, node does not tell
 */
function canceledError ({ encrypted, open }, isSecured) {
  if (NODE_MAJOR < 22) return null
  // Node encrypts it, for a socket that is closed already.
  if (isSecured && !open) return errnoError(-constants.errno.EBADF, 'write')
  const error = errnoError(-constants.errno.ECANCELED, 'write')
  if (!encrypted) error.message += ' Canceled because of SSL destruction'
  return error
}

/**
 * The transport ended while the handshake was on its way.
 *
 * @param {object} options of the connection
 * @returns {Error}
 */
function disconnectedError (options) {
  const error = bindingError(Error, 'ECONNRESET',
    'Client network socket disconnected before secure TLS connection was ' +
    'established')
  error.path = options.path
  error.host = options.host
  error.port = options.port
  error.localAddress = options.localAddress
  return error
}

class AbortError extends Error {
  constructor (options) {
    super('The operation was aborted', options)
    this.code = 'ABORT_ERR'
    this.name = 'AbortError'
  }
}

/**
 * What an AbortSignal causes.
 *
 * @param {unknown} [cause] the signal's reason
 * @returns {Error}
 */
function abortError (cause) {
  return new AbortError(cause === undefined ? undefined : { cause })
}

const classes = {}
for (const [code, [Base, message]] of Object.entries(TABLE)) {
  classes[code] = define(code, Base, message)
}

module.exports = {
  ...classes,
  abortError,
  bindingError,
  canceledError,
  describeReceived,
  disconnectedError,
  errnoError,
  writeError
}
