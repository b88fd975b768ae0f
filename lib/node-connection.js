'use strict'

/**
 * What the node backend knows of one connection from its start to its end,
 * beside node's own TLSSocket: its context, its sessions, its counts.
 */

const { publishHandshake, watchesHandshakes } = require('./diagnostics')
const { ERR_TLS_HANDSHAKE_TIMEOUT } = require('./errors')
const { describeChain, peerKey, showCertificates } =
  require('./node-resumption')

class NodeConnection {
  #backend
  #entry
  #options
  #handshaking = true
  #ended = false
  #key = null // of its sessions; null: none are stored
  #ticket = null // that it offers
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

  /** Puts a session into the options, unless there is one of the user's. */
  offerSession () {
    const { sessions } = this.#backend
    if (!sessions.enabled || this.#entry === null) return
    this.#key = peerKey(this.#entry.key, this.#options)
    if (this.#key === null || this.#options.session) return
    this.#ticket = sessions.take(this.#key)
    if (this.#ticket !== null) this.#options.session = this.#ticket.session
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
    if (this.#key !== null) {
      socket.on('session', (session) => this.#storeSession(socket, session))
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
    if (socket !== null && this.#key !== null) this.#rememberPeer(socket)
    publishHandshake(() => this.#describe(socket, error))
  }

  #settleTicket (socket, error) {
    const { sessions } = this.#backend
    if (socket === null) {
      // A connection that the user gave up says nothing about the ticket.
      if (error) sessions.failed(this.#key)
    } else if (socket.isSessionReused()) {
      sessions.accepted()
      this.#peer = this.#ticket
      showCertificates(socket, this.#ticket)
    } else {
      sessions.rejected(this.#key, this.#ticket)
    }
  }

  /** Now, because node 20 loses certificates when it is asked for them in
   * certain ways. Resumed by a session of the user's, it has none. */
  #rememberPeer (socket) {
    if (socket.authorized && !socket.isSessionReused()) {
      this.#peer = describeChain(socket)
    }
  }

  #storeSession (socket, session) {
    if (this.#peer === null) return
    const { chain, selfSigned, notAfter } = this.#peer
    this.#backend.sessions.put(this.#key, {
      session, protocol: socket.getProtocol(), chain, selfSigned, notAfter
    })
  }

  #describe (socket, error) {
    return {
      servername: this.#options.servername || undefined,
      protocol: socket?.getProtocol() ?? null,
      cipher: socket?.getCipher()?.name ?? null,
      reused: socket?.isSessionReused() ?? false,
      backend: 'node',
      transport: 'node',
      durationMs: performance.now() - this.#startedAt,
      error: error ?? null
    }
  }
}

module.exports = { NodeConnection }
