'use strict'

/**
 * connect(): the forms of its arguments -> one options object -> a TLS socket
 * that has been started.
 */

const net = require('node:net')
const tls = require('node:tls')
const { connectWithNode, findFallback } = require('./connection')
const errors = require('./errors')
const { isIpAddress } = require('./ip-address')
const { flattenContextOptions } = require('./options')
const { isCreateSecureContextForeign } = require('./node-originals')
const { findOptionsBeside, validateOwnOptions } = require('./own-options')
const { validateSession } = require('./session-format')
const {
  kConnection, kConnectOptions, kHandshakeTimer
} = require('./symbols')
const { findObstacle, isDuplex } = require('./takeover')
const { TLSSocket } = require('./tls-socket')

const NODE_MAJOR = Number(process.versions.node.split('.', 1)[0])
const REFUSES_IP_SERVERNAME = NODE_MAJOR >= 26
const CHECKS_KEEP_ALIVE_DELAY = NODE_MAJOR >= 24

let warnedOfEnvironment = false
let warnedOfIpServername = false

/** [options, callback], with `socket` first among the forms. */
function normalise (args) {
  const [first, second] = args
  if (isDuplex(first) && !Array.isArray(first)) {
    const rest = args.slice(1)
    const callback = rest.find((arg) => typeof arg === 'function')
    return [{ ...findOptionsBeside(rest), socket: first }, callback ?? null]
  }
  const [options, callback] = net._normalizeArgs(args)
  // As in node: options behind port and host, or path, win over these.
  const extra = [second, args[2]].find((arg) =>
    typeof arg === 'object' && arg !== null)
  return [extra === undefined ? options : { ...options, ...extra }, callback]
}

/** NODE_TLS_REJECT_UNAUTHORIZED=0, as node reads it. */
function rejectByDefault () {
  if (process.env.NODE_TLS_REJECT_UNAUTHORIZED !== '0') return true
  if (!warnedOfEnvironment) {
    warnedOfEnvironment = true
    process.emitWarning('Setting the NODE_TLS_REJECT_UNAUTHORIZED environment ' +
      "variable to '0' makes TLS connections and HTTPS requests insecure by " +
      'disabling certificate verification.')
  }
  return false
}

function withDefaults (options) {
  const complete = {
    rejectUnauthorized: rejectByDefault(),
    ciphers: tls.DEFAULT_CIPHERS,
    checkServerIdentity: tls.checkServerIdentity,
    minDHSize: 1024,
    ...options
  }
  complete.rejectUnauthorized = complete.rejectUnauthorized !== false
  return complete
}

function validate (options) {
  const {
    checkServerIdentity, keepAliveInitialDelay, minDHSize, servername, socket
  } = options
  validateOwnOptions(options)
  if (typeof checkServerIdentity !== 'function') {
    throw new errors.ERR_INVALID_ARG_TYPE('options.checkServerIdentity',
      'function', checkServerIdentity)
  }
  if (typeof minDHSize !== 'number') {
    throw new errors.ERR_INVALID_ARG_TYPE('options.minDHSize', 'number',
      minDHSize)
  }
  if (!(minDHSize >= 1)) {
    throw new errors.ERR_OUT_OF_RANGE('options.minDHSize', '>= 1', minDHSize)
  }
  if (socket && !isDuplex(socket)) {
    throw new errors.ERR_INVALID_ARG_TYPE('options.socket', 'Duplex', socket)
  }
  if (servername && typeof servername !== 'string') {
    throw new errors.ERR_INVALID_ARG_TYPE('name', 'string', servername)
  }
  if (servername && isIpAddress(servername)) refuseOrWarnOfIp(servername)
  if (CHECKS_KEEP_ALIVE_DELAY && keepAliveInitialDelay !== undefined &&
      typeof keepAliveInitialDelay !== 'number') {
    throw new errors.ERR_INVALID_ARG_TYPE('options.keepAliveInitialDelay',
      'number', keepAliveInitialDelay)
  }
  if (options.transport === 'fd') {
    const obstacle = findObstacle(socket)
    if (obstacle !== null) throw new errors.ERR_EAGER_TLS_TRANSPORT(obstacle)
  }
}

function refuseOrWarnOfIp (servername) {
  if (REFUSES_IP_SERVERNAME) {
    throw new errors.ERR_INVALID_ARG_VALUE('options.servername', servername,
      'Setting the TLS ServerName to an IP address is not permitted.')
  }
  if (warnedOfIpServername) return
  warnedOfIpServername = true
  process.emitWarning('Setting the TLS ServerName to an IP address is not ' +
    'permitted by RFC 6066. This will be ignored in a future version.',
  'DeprecationWarning', 'DEP0123')
}

/**
 * As tls.connect(), and connect(socket[, options][, callback]).
 *
 * @returns {TLSSocket} node:tls's where the core cannot serve the options
 * @throws {TypeError | RangeError | Error} for bad arguments, with the codes
 *   of node; ERR_EAGER_TLS_TRANSPORT; ERR_EAGER_TLS_CONTEXT_CLOSED
 */
function connect (...args) {
  const [given, callback] = normalise(args)
  const options = withDefaults(given)
  validate(options)
  if (options.session) validateSession(options.session)
  // Like node's, connect() asks whoever has put a function of his own there.
  if (!options.secureContext && isCreateSecureContextForeign()) {
    options.secureContext = tls.createSecureContext(options)
  }
  if (findFallback(options, options.secureContext || null) !== null) {
    return connectWithNode(...args)
  }
  let contextFields = null
  if (!options.secureContext) {
    contextFields = flattenContextOptions(options)
    if (contextFields.unsupported !== null) return connectWithNode(...args)
  }
  const socket = new TLSSocket(options.socket, options, contextFields)
  try {
    start(socket, options, callback)
  } catch (error) {
    // An option of net.connect() that it does not take.
    socket.destroy()
    throw error
  }
  return socket
}

function start (socket, options, callback) {
  // Not _tlsOptions itself, which whoever has the socket could change before the
  // peer is verified.
  socket[kConnectOptions] = { ...options }
  if (callback) socket.once('secureConnect', callback)
  if (options.session) socket.setSession(options.session)
  startTimers(socket, options)
  socket._start()
  if (!options.socket) socket.connect(options)
}

/** Next to `socket` node ignores the timeout, and we one that makes no sense. */
function startTimers (socket, options) {
  const { timeout } = options
  const wanted = options.socket
    ? typeof timeout === 'number' && timeout > 0 && timeout < Infinity
    : timeout
  if (wanted) socket.setTimeout(timeout)
  if (!(options.handshakeTimeout > 0) || socket[kConnection] === null) return
  socket[kHandshakeTimer] = setTimeout(() => {
    socket.destroy(new errors.ERR_TLS_HANDSHAKE_TIMEOUT())
  }, options.handshakeTimeout)
}

module.exports = { connect }
