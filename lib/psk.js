'use strict'

/**
 * Pre-shared keys: what the pskCallback option returns, checked as node does.
 */

const { AsyncResource } = require('node:async_hooks')
const { Buffer } = require('node:buffer')
const errors = require('./errors')
const { kConnection } = require('./symbols')

/** @returns {{ identity: string, psk: ArrayBufferView } | undefined} */
function checkAnswer (answer, maxPskLength, maxIdentityLength) {
  if (answer === undefined || answer === null) return undefined
  if (typeof answer !== 'object' || Array.isArray(answer)) {
    throw new errors.ERR_INVALID_ARG_TYPE('ret', 'Object', answer)
  }
  const { identity, psk } = answer
  if (!ArrayBuffer.isView(psk)) {
    throw new errors.ERR_INVALID_ARG_TYPE('psk',
      ['Buffer', 'TypedArray', 'DataView'], psk)
  }
  if (psk.byteLength > maxPskLength) {
    throw new errors.ERR_INVALID_ARG_VALUE('psk', psk,
      `Pre-shared key exceeds ${maxPskLength} bytes`)
  }
  if (typeof identity !== 'string') {
    throw new errors.ERR_INVALID_ARG_TYPE('identity', 'string', identity)
  }
  if (Buffer.byteLength(identity) > maxIdentityLength) {
    throw new errors.ERR_INVALID_ARG_VALUE('identity', identity,
      `PSK identity exceeds ${maxIdentityLength} bytes`)
  }
  return { identity, psk }
}

/**
 * @param {TLSSocket} socket
 * @param {Function} callback the user's: (hint) => { identity, psk }
 */
function usePsk (socket, callback) {
  if (typeof callback !== 'function') {
    throw new errors.ERR_INVALID_ARG_TYPE('pskCallback', 'function', callback)
  }
  const connection = socket[kConnection]
  const resource = new AsyncResource('EAGERTLS')
  // OpenSSL waits for the answer: whatever is thrown ends the connection, when
  // OpenSSL is done with it or, because it may go on without a key, at once.
  connection.pskCallback = (hint, maxPsk, maxIdentity) => {
    try {
      return checkAnswer(
        resource.runInAsyncScope(callback, socket, hint ?? null), maxPsk,
        maxIdentity)
    } catch (error) {
      connection.pskError = error
      process.nextTick(() => socket.destroy(error))
      return undefined
    }
  }
  connection.setPskCallback(connection.pskCallback)
}

module.exports = { usePsk }
