'use strict'

/**
 * The native core of this environment: the binding, its settings, its counts,
 * and the timer that lets idle contexts go.
 */

const { binding } = require('./native')
const { syncDefaultRoots } = require('./secure-context')

// Order of binding.stats(), see src/napi/addon.c.
const COUNTS = [
  'contextsLive', 'contextsCached', 'contextsSingleUse', 'contextsCreated',
  'contextsHits', 'contextsMisses', 'contextsEvicted', 'storesBuilt',
  'certificatesParsed', 'connectionsLive', 'sessionsStored', 'sessionsPeers',
  'sessionsOffered', 'sessionsResumed', 'sessionsRejected', 'polls'
]
const EXPIRY_MIN = 1000

/**
 * What the copies of this package share that share the binding: node and test
 * runners load a binary once for all module registries of a thread.
 *
 *   { identityIds, settings, slab, watching }
 */
const common = (binding.common ??= {})

const numbers = new Float64Array(COUNTS.length)
let expiryTimer = null

/** All counts of the core, by name. */
function counts () {
  binding.stats(numbers)
  const result = {}
  for (let i = 0; i < COUNTS.length; i++) result[COUNTS[i]] = numbers[i]
  return result
}

function expire () {
  expiryTimer = null
  const next = binding.expire()
  if (next >= 0) schedule(next)
}

function schedule (delay) {
  expiryTimer = setTimeout(expire, Math.max(delay, EXPIRY_MIN))
  expiryTimer.unref()
}

/**
 * To be called after a context may have been cached: idle ones are looked for
 * from now on. Does nothing while a look is due.
 */
function watchIdleContexts () {
  if (expiryTimer === null) expire()
}

/**
 * Puts the settings of configure() in force.
 *
 * @param {object} settings complete and valid, as lib/configure.js makes them
 */
function applySettings ({ contexts, sessions }) {
  binding.configure(contexts.max, contexts.idleTimeout,
    sessions.enabled ? 1 : 0, sessions.maxPeers, sessions.perPeer,
    sessions.timeout)
  if (expiryTimer !== null) {
    clearTimeout(expiryTimer)
    expire()
  }
}

module.exports = {
  applySettings,
  binding,
  common,
  counts,
  syncDefaultRoots,
  watchIdleContexts
}
