'use strict'

/**
 * What this package tells those who listen: two diagnostics channels, and
 * NODE_DEBUG=eager-tls. Nothing is computed while nobody listens.
 */

const { channel } = require('node:diagnostics_channel')
const { debuglog } = require('node:util')

const { CONTEXT_KEY_HEX_LENGTH } = require('./constants')

const handshakeChannel = channel('eager-tls:handshake')
const contextChannel = channel('eager-tls:context')

const debug = debuglog('eager-tls')

// enum etls_context_event of src/core/eager_tls.h
const CONTEXT_EVENTS = [undefined, 'created', 'evicted', 'freed']

/** Whether a handshake's figures are worth gathering. */
function watchesHandshakes () {
  return handshakeChannel.hasSubscribers || debug.enabled
}

/** Whether events of contexts are worth recording. */
function watchesContexts () {
  return contextChannel.hasSubscribers || debug.enabled
}

/**
 * One finished or failed handshake.
 *
 * @param {() => { servername, protocol, cipher, reused, backend, transport,
 *   durationMs, error }} describe called only if somebody listens
 */
function publishHandshake (describe) {
  if (!watchesHandshakes()) return
  const message = describe()
  debug('handshake %j', { ...message, error: message.error?.code })
  if (handshakeChannel.hasSubscribers) handshakeChannel.publish(message)
}

/**
 * One event in the life of a context.
 *
 * @param {string | number} event its name, or its number in the core
 * @param {Uint8Array} digest of the context
 */
function publishContext (event, digest) {
  if (!watchesContexts()) return
  const message = {
    event: typeof event === 'number' ? CONTEXT_EVENTS[event] : event,
    key: Buffer.from(digest).toString('hex').slice(0, CONTEXT_KEY_HEX_LENGTH)
  }
  debug('context %s %s', message.event, message.key)
  if (contextChannel.hasSubscribers) contextChannel.publish(message)
}

module.exports = {
  debug, publishContext, publishHandshake, watchesContexts, watchesHandshakes
}
