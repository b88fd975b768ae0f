'use strict'

/**
 * The native half of a TLS socket, made from its options; or the reason why
 * node:tls has to serve it.
 */

const tls = require('node:tls')
const errors = require('./errors')
const { isIpAddress } = require('./ip-address')
const { counts } = require('./live-counts')
const { connect: nodeConnect } = require('./node-originals')
const observe = require('./observe')
const { flattenContextOptions } = require('./options')
const { binding, syncDefaultRoots } = require('./runtime')
const { handleOf, isForeign } = require('./secure-context')

const NodeTLSSocket = tls.TLSSocket
const TRACES = process.execArgv.includes('--trace-tls') ||
  /(^|\s)--trace-tls(\s|$)/.test(process.env.NODE_OPTIONS ?? '')

let fallbacks = 0

/**
 * Why the core cannot serve a socket with these options.
 *
 * @param {object} options
 * @param {unknown} [context] that is to be used; connect() does not know
 *   `credentials`
 * @returns {string | null}
 */
function findFallback (options,
  context = options.secureContext || options.credentials) {
  if (options.isServer) return 'isServer'
  // Whatever is neither true nor false is for node to refuse.
  if ((options.enableTrace ?? TRACES) !== false) return 'enableTrace'
  if (context) return isForeign(context) ? 'secureContext' : null
  return null
}

/** Connections handed to node:tls. */
function fallbackCount () {
  return fallbacks
}

function nodeTLSSocket (...args) {
  const socket = new NodeTLSSocket(...args)
  fallbacks++
  return socket
}

function connectWithNode (...args) {
  const socket = nodeConnect(...args)
  fallbacks++
  return socket
}

/**
 * The options are those of the connection and of its context.
 *
 * @param {object} options ALPNProtocols becomes the wire format
 * @param {object | null} [contextFields] of flattenContextOptions(); they
 *   decide what the context is
 * @returns {object} native
 */
function createConnection (options, contextFields) {
  observe.watchContexts()
  const connection = newConnection(options, contextFields)
  try {
    prepare(connection, options)
  } catch (error) {
    connection.close()
    throw error
  }
  counts.opened++
  observe.contextsChanged()
  return connection
}

function newConnection (options, contextFields) {
  const context = contextFields
    ? null
    : options.secureContext || options.credentials
  if (context) return new binding.Connection(handleOf(context), null, false)
  const { fields, usesDefaultRoots } = contextFields ??
    flattenContextOptions(options)
  if (usesDefaultRoots) syncDefaultRoots(binding)
  return new binding.Connection(null, fields, options.singleUse === true)
}

function prepare (connection, options) {
  const { ALPNProtocols, requestOCSP, servername } = options
  if (ALPNProtocols) {
    options.ALPNProtocols = alpnWire(ALPNProtocols)
    if (options.ALPNProtocols.length > 0) connection.setAlpn(options.ALPNProtocols)
  }
  // RFC 6066, section 3: no IP addresses.
  if (servername && !isIpAddress(servername)) connection.setServername(servername)
  if (requestOCSP) connection.requestOcsp()
}

/**
 * ALPNProtocols in any of its shapes, as the length-prefixed names of RFC
 * 7301, section 3.1. Malformed ones, which abort older versions of node, are
 * refused as the newer ones do.
 */
function alpnWire (protocols) {
  if (Array.isArray(protocols)) {
    protocols.forEach((name, index) => {
      if (name === '' || name?.length === 0) {
        throw new errors.ERR_INVALID_ARG_VALUE(`protocols[${index}]`, name,
          'must be a non-empty string')
      }
    })
  }
  const out = {}
  tls.convertALPNProtocols(protocols, out)
  const wire = out.ALPNProtocols
  if (wire === undefined) {
    throw new TypeError('Must give a Buffer as first argument')
  }
  for (let at = 0; at < wire.length; at += 1 + wire[at]) {
    if (wire[at] === 0 || at + wire[at] >= wire.length) {
      throw new errors.ERR_INVALID_ARG_VALUE('ALPNProtocols', protocols)
    }
  }
  return wire
}

module.exports = {
  connectWithNode,
  createConnection,
  fallbackCount,
  findFallback,
  nodeTLSSocket
}
