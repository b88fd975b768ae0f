'use strict'

const { PeerServer } = require('./peer-process')

/**
 * Ready-made handlers of a secured connection. A handler is sent to the peer
 * process as source text, so it uses its parameters only.
 */
const behaviours = {
  echo: (socket) => socket.pipe(socket),
  /** Reads everything, answers nothing, ends when the client ends. */
  sink: (socket) => socket.resume(),
  /** Ends at once. */
  end: (socket) => socket.resume().end(),
  /** Closes without close_notify: a bare FIN. */
  destroy: (socket) => socket.destroy(),
  /** Closes with a reset, which only the plain socket below can send. */
  reset: (socket) => socket._parent.resetAndDestroy(),
  /** Holds the connection and never reads from it. */
  hold: (socket) => socket.pause()
}

/**
 * A `tls.createServer` in the peer process.
 *
 * @param {object} options of tls.createServer, plus `contexts` (name -> options
 *   of tls.createSecureContext, chosen by SNI), `tickets: false`, and `host` or
 *   `path` to listen on. Plain data only.
 * @param {string|function} [behaviour] a name of `behaviours`, or a handler
 *   `(socket, peer)` with `peer.options`, `peer.report(value)`, `peer.on(name, listener)` and
 *   `peer.require(id)`.
 * @returns {Promise<PeerServer>} A client of TLS 1.3 is secure before its server
 *   is: await `next('secure')` before `tell`ing the handler anything.
 */
function tlsServer (options, behaviour = 'echo') {
  const handler = typeof behaviour === 'string'
    ? behaviours[behaviour]
    : behaviour
  return PeerServer.listen('server', 'tls', options, handler)
}

module.exports = { tlsServer }
