'use strict'

/**
 * What the node backend knows of one connection from its start to its end,
 * beside node's own TLSSocket: its context, its sessions, its counts.
 */

const { publishHandshake, watchesHandshakes } = require('./diagnostics')
const { ERR_TLS_HANDSHAKE_TIMEOUT } = require('./errors')
const { rememberExported } = require('./node-exported')
const {
  describeChain, examineSession, isSession, peerKey, showCertificates
} = require('./node-resumption')

/** Tells of the sessions that getSession() gives out. */
function hookGetSession (socket, note) {
  const { getSession } = socket
  if (typeof getSession !== 'function') return
  Object.defineProperty(socket, 'getSession', {
    __proto__: null,
    configurable: true,
    enumerable: false,
    value: function () {
      const session = getSession.call(this)
      if (isSession(session)) note(session)
      return session
    },
    writable: true
  })
}

class NodeConnection {
  #backend
  #entry
  #options
  #handshaking = true
  #ended = false
  #key = null // of its sessions; null: none are stored
  #ticket = null // of ours, that it offers
  #explicit = null // what is known of the user's session that it offers
  #peer = null // the certificates that it was verified by
  #timer = null
  #startedAt = watchesHandshakes() ? performance.now() : 0

  /**
   * @param {{ contexts: NodeContexts, sessions: NodeSessions,
   *   counts: { live, opened, handshaking } }} backend
   * @param {Entry | null} entry the context, whose reference it takes over;
   *   null: one that is not ours
   * @param {object} options of the connection
   */
  constructor (backend, entry, options) {
    this.#backend = backend
    this.#entry = entry
    this.#options = options
    backend.counts.live++
    backend.counts.opened++
    backend.counts.handshaking++
  }

  /** Puts a session into the options; one of the user's stays if what it
   * stands for can be told and is still true. */
  offerSession () {
    const { sessions } = this.#backend
    const options = this.#options
    if (this.#entry === null || this.#entry.key === null) return
    if (sessions.enabled) this.#key = peerKey(this.#entry.key, options)
    if (isSession(options.session)) {
      this.#explicit = examineSession(this.#entry.key, options)
      if (this.#explicit === null) options.session = undefined
    } else if (this.#key !== null && !options.session) {
      this.#ticket = sessions.take(this.#key)
      if (this.#ticket !== null) options.session = this.#ticket.session
    }
  }

  /**
   * Ties it to its socket. The end is seen by _destroy(), which nobody can
   * remove, and which comes before 'close'.
   *
   * @param {tls.TLSSocket} socket
   */
  follow (socket) {
    const connection = this
    const destroy = socket._destroy
    socket._destroy = function (error, done) {
      // First: node may emit 'close' before it calls back.
      connection.end(error)
      return destroy.call(this, error, done)
    }
    socket.once('secureConnect', () => this.#endHandshake(socket, null))
    if (this.#entry !== null && this.#entry.key !== null) {
      socket.on('session', (session) => this.#storeSession(socket, session))
      hookGetSession(socket, (session) => this.#noteExport(session))
    }
    this.#startTimer(socket)
  }

  /**
   * The socket is gone, or was never made.
   *
   * @param {Error | null} error
   */
  end (error) {
    if (this.#ended) return
    this.#ended = true
    const { contexts, counts } = this.#backend
    this.#endHandshake(null, error)
    if (this.#entry !== null) contexts.release(this.#entry)
    counts.live--
  }

  #startTimer (socket) {
    const { handshakeTimeout } = this.#options
    if (!handshakeTimeout) return
    this.#timer = setTimeout(() => {
      // Somebody may have removed the listener that stops the timer.
      if (socket.secureConnecting !== false) {
        socket.destroy(new ERR_TLS_HANDSHAKE_TIMEOUT())
      }
    }, handshakeTimeout)
    this.#timer.unref?.()
  }

  /** @param {tls.TLSSocket | null} socket null: the handshake has failed */
  #endHandshake (socket, error) {
    if (!this.#handshaking) return
    this.#handshaking = false
    this.#backend.counts.handshaking--
    clearTimeout(this.#timer)
    if (this.#ticket !== null) this.#settleTicket(socket, error)
    if (socket !== null) this.#rememberPeer(socket)
    // What the raw socket failed with was told before.
    if (socket === null) error ??= this.#options.socket?.errored ?? null
    publishHandshake(() => this.#describe(socket, error))
  }

  #settleTicket (socket, error) {
    const { sessions } = this.#backend
    if (socket === null) {
      // A connection that the user gave up says nothing about the ticket.
      if (error) sessions.failed(this.#key)
    } else if (socket.isSessionReused()) {
      sessions.accepted()
    } else {
      sessions.rejected(this.#key, this.#ticket)
    }
  }

  /** Who the peer is. Now, because node 20 loses certificates when it is
   * asked for them in certain ways. */
  #rememberPeer (socket) {
    if (this.#entry === null || this.#entry.key === null) return
    if (!socket.isSessionReused()) {
      this.#peer = {
        ...describeChain(socket),
        authorized: socket.authorized,
        contextKey: this.#entry.key
      }
      return
    }
    this.#peer = this.#ticket?.peer ?? this.#explicit?.peer ?? null
    if (this.#peer !== null) showCertificates(socket, this.#peer)
    const identityError = this.#explicit?.identityError
    if (identityError) {
      socket.authorized = false
      socket.authorizationError = identityError.code || identityError.message
    }
  }

  #storeSession (socket, session) {
    this.#noteExport(session)
    if (this.#key === null || this.#peer === null || !socket.authorized) return
    this.#backend.sessions.put(this.#key, {
      session,
      protocol: socket.getProtocol(),
      peer: this.#peer,
      notAfter: this.#peer.notAfter
    })
  }

  #noteExport (session) {
    if (this.#peer !== null) rememberExported(session, this.#peer)
  }

  #describe (socket, error) {
    return {
      servername: this.#options.servername || null,
      protocol: socket?.getProtocol() ?? null,
      cipher: socket?.getCipher()?.name ?? null,
      reused: socket?.isSessionReused() ?? false,
      backend: 'node',
      transport: 'node',
      durationMs: performance.now() - this.#startedAt,
      error
    }
  }
}

module.exports = { NodeConnection }
