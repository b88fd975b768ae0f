'use strict'

/**
 * What connections and contexts of the native core have to tell the
 * diagnostics channels.
 */

const diagnostics = require('./diagnostics')
const { binding, common } = require('./runtime')
const { kRaw, kTransport } = require('./symbols')

const kStarted = Symbol('handshake started')

/** Whether the core records events of contexts follows who listens now. */
function watchContexts () {
  const wanted = diagnostics.watchesContexts()
  if (wanted === (common.watching === true)) return
  common.watching = wanted
  binding.watchContexts(wanted)
}

/** To be called after contexts may have come or gone. */
function contextsChanged () {
  if (common.watching !== true) return
  const notes = binding.takeContextEvents()
  for (let i = 0; i < notes.length; i += 2) {
    diagnostics.publishContext(notes[i], notes[i + 1])
  }
}

function handshakeStarted (socket) {
  if (diagnostics.watchesHandshakes()) socket[kStarted] = performance.now()
}

function handshakeDone (socket, error) {
  diagnostics.publishHandshake(() => ({
    servername: socket.servername || null,
    protocol: socket._secureEstablished ? socket.getProtocol() : null,
    cipher: socket._secureEstablished ? socket.getCipher()?.name ?? null : null,
    reused: socket._secureEstablished && socket.isSessionReused(),
    backend: 'native',
    transport: socket[kTransport]?.name ?? null,
    durationMs: performance.now() - (socket[kStarted] ?? performance.now()),
    // What the raw socket failed with was told before.
    error: error ?? socket[kRaw]?.errored ?? null
  }))
}

module.exports = {
  contextsChanged, handshakeDone, handshakeStarted, watchContexts
}
