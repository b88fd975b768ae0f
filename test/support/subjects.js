'use strict'

/**
 * The implementations under test. A compat test is one body run against each:
 * `node:tls` first, which proves that the body states what node does, then this
 * package.
 *
 * EAGER_TLS_TEST_TRANSPORT  the package's transport: 'stream' (default) or 'fd'
 * EAGER_TLS_TEST_SUBJECT    only this kind: 'node' or 'eager'
 * EAGER_TLS_BACKEND         'node': the package's fallback is the subject
 */

const net = require('node:net')
const tls = require('node:tls')

const transport = process.env.EAGER_TLS_TEST_TRANSPORT || 'stream'
if (transport !== 'stream' && transport !== 'fd') {
  throw new Error(`EAGER_TLS_TEST_TRANSPORT=${transport}: 'stream' or 'fd'`)
}

/**
 * Whether the transport can be demanded for this raw socket. The stream
 * transport carries every Duplex; the descriptor only that of a plain socket
 * that has been told to connect (or that connect() makes itself).
 */
function canDemand (raw) {
  if (transport === 'stream' || raw === undefined || raw === null) return true
  return raw.constructor === net.Socket && !raw.destroyed &&
    (raw.connecting || raw._handle !== null)
}

/** The arguments with `transport` added to the options, where it can be. */
function withTransport (args) {
  const at = args.findIndex((arg, index) => typeof arg === 'object' &&
    arg !== null && !(index === 0 && typeof arg.write === 'function'))
  const first = args[0]
  const socketFirst = typeof first === 'object' && first !== null &&
    typeof first.write === 'function'
  const options = at === -1 ? {} : args[at]
  if (options.transport !== undefined) return args
  if (!canDemand(socketFirst ? first : options.socket)) return args
  const changed = { ...options, transport }
  if (at !== -1) return args.with(at, changed)
  const callback = args.findIndex((arg) => typeof arg === 'function')
  return callback === -1
    ? [...args, changed]
    : args.toSpliced(callback, 0, changed)
}

function nodeSubject () {
  return {
    name: 'node:tls',
    kind: 'node',
    native: false,
    transport: null,
    tls,
    connect: tls.connect
  }
}

function packageSubject () {
  const eager = require('../..')
  const native = eager.backend === 'native'
  return {
    name: `eager-tls (${native ? transport : 'node backend'})`,
    kind: 'eager',
    native,
    transport: native ? transport : null,
    tls: eager,
    connect: native
      ? (...args) => eager.connect(...withTransport(args))
      : eager.connect
  }
}

let cached

/**
 * The subjects of this run: { name, kind, native, transport, tls, connect }.
 * `kind` is 'node' or 'eager'; `native` says that the native core does the TLS,
 * which the package's fallback leaves to node.
 */
function subjects () {
  if (cached) return cached
  const only = process.env.EAGER_TLS_TEST_SUBJECT
  cached = [
    ...(only === 'eager' ? [] : [nodeSubject()]),
    ...(only === 'node' ? [] : [packageSubject()])
  ]
  return cached
}

/** Defines a `describe` per subject. */
function eachSubject (define) {
  for (const subject of subjects()) {
    describe(`with ${subject.name}`, () => define(subject))
  }
}

module.exports = { eachSubject, subjects }
