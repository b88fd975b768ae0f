'use strict'

/**
 * What the leak benchmark compares: by connections of its own, or through a
 * driver that knows nothing of this package.
 *
 *   about   a few words
 *   setup(options) -> { upgrade, counts }
 *     options  those of tls.connect()
 *     upgrade(raw) -> TLS socket; null: no TLS
 *     counts() -> { connections, contexts }: live SSL and SSL_CTX, null where
 *              nobody can tell
 */

const tls = require('node:tls')

const unknown = () => ({ connections: null, contexts: null })

/**
 * node:tls does not say how many contexts there are: count those that its
 * createSecureContext gave and the collector has not taken.
 */
function countNodeContexts () {
  let live = 0
  const registry = new FinalizationRegistry(() => { live-- })
  const { createSecureContext } = tls
  tls.createSecureContext = (...args) => {
    const context = createSecureContext(...args)
    live++
    registry.register(context.context, undefined)
    return context
  }
  return () => ({ connections: null, contexts: live })
}

function eagerCounts () {
  const { contexts, connections } = require('../..').stats()
  return { connections: connections.live, contexts: contexts.live }
}

function eager (own) {
  return (options) => {
    const { connect } = require('../..')
    return {
      upgrade: (socket) => connect({ ...options, ...own, socket }),
      counts: eagerCounts
    }
  }
}

const contenders = {
  plain: {
    about: 'no TLS: what sockets cost by themselves',
    setup: () => ({ upgrade: null, counts: unknown })
  },
  'node-own': {
    about: 'node:tls as drivers use it: a context for each connection',
    setup (options) {
      const counts = countNodeContexts()
      return { upgrade: (socket) => tls.connect({ ...options, socket }), counts }
    }
  },
  'node-shared': {
    about: 'node:tls, secureContext built once by hand',
    setup (options) {
      const counts = countNodeContexts()
      const secureContext = tls.createSecureContext(options)
      return {
        upgrade: (socket) => tls.connect({ ...options, secureContext, socket }),
        counts
      }
    }
  },
  eager: {
    about: 'eager-tls',
    setup: eager({})
  },
  'eager-single-use': {
    about: 'eager-tls, singleUse: a context for each connection',
    setup: eager({ singleUse: true, sessionReuse: false })
  }
}

const throughDriver = {
  node: {
    about: 'the driver on node:tls',
    setup: () => ({ counts: countNodeContexts() })
  },
  eager: {
    about: 'the driver on eager-tls/register',
    setup () {
      require('../../lib/register')
      return { counts: eagerCounts }
    }
  }
}

module.exports = { contenders, throughDriver }
