'use strict'

/**
 * The API on the native core.
 */

const { createConfigure } = require('./configure')
const { connect } = require('./connect')
const { fallbackCount } = require('./connection')
const { contextsChanged, watchContexts } = require('./observe')
const { validateSingleUse } = require('./own-options')
const runtime = require('./runtime')
const secureContext = require('./secure-context')
const { liveCounts } = require('./live-counts')
const { TLSSocket } = require('./tls-socket')

const { binding } = runtime

/**
 * As tls.createSecureContext(); the result holds a reference on the cached
 * context for these options until it is closed or collected.
 */
function createSecureContext (options) {
  validateSingleUse(options?.singleUse)
  watchContexts()
  const context = secureContext.createSecureContext(binding, options)
  contextsChanged()
  return context
}

/** The counts of this environment. Costs the connections nothing. */
function stats () {
  const n = runtime.counts()
  return {
    backend: 'native',
    openssl: binding.openssl,
    contexts: {
      live: n.contextsLive,
      cached: n.contextsCached,
      singleUse: n.contextsSingleUse,
      created: n.contextsCreated,
      hits: n.contextsHits,
      misses: n.contextsMisses,
      evicted: n.contextsEvicted
    },
    connections: { live: n.connectionsLive, ...liveCounts() },
    sessions: {
      stored: n.sessionsStored,
      peers: n.sessionsPeers,
      offered: n.sessionsOffered,
      resumed: n.sessionsResumed,
      rejected: n.sessionsRejected
    },
    offload: { tasks: 0, inFlight: 0 },
    fallbacks: fallbackCount()
  }
}

/** Forgets idle cached contexts and all sessions. */
function clear () {
  binding.clear()
  contextsChanged()
}

module.exports = {
  TLSSocket,
  clear,
  configure: createConfigure(runtime.applySettings, runtime.common),
  connect,
  createSecureContext,
  stats
}
