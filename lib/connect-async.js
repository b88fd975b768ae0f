'use strict'

/**
 * connect() as a promise.
 */

const { once } = require('node:events')

/**
 * @param {Function} connect of the backend
 * @returns {Function} connectAsync(...same arguments, without callback):
 *   resolves with the TLS socket on secureConnect; on an error, on an early
 *   close, or when options.signal aborts, rejects, and the socket is destroyed
 */
function createConnectAsync (connect) {
  return async function connectAsync (...args) {
    const socket = connect(...args)
    const closed = new AbortController()
    const onClose = () => closed.abort()
    socket.once('close', onClose)
    try {
      await once(socket, 'secureConnect', { signal: closed.signal })
    } catch (error) {
      socket.destroy()
      throw closed.signal.aborted ? socket.errored ?? error : error
    } finally {
      socket.removeListener('close', onClose)
    }
    return socket
  }
}

module.exports = { createConnectAsync }
