'use strict'

/**
 * The arguments of connect() that node:tls does not have: options, and a socket
 * in front of them. They are checked before anything is opened.
 */

const { OFFLOADS, TIMEOUT_MAX, TRANSPORTS } = require('./constants')
const {
  ERR_INVALID_ARG_TYPE, ERR_INVALID_ARG_VALUE, ERR_OUT_OF_RANGE
} = require('./errors')

/**
 * Throws for an option of ours that is wrong; undefined is always right.
 *
 * @param {object} options of the connection
 */
function validateOwnOptions (options) {
  const { handshakeTimeout, offload, sessionReuse, singleUse, transport } =
    options
  validateSingleUse(singleUse)
  if (sessionReuse !== undefined) {
    validateBoolean(sessionReuse, 'options.sessionReuse')
  }
  if (handshakeTimeout !== undefined) {
    validateInteger(handshakeTimeout, 'options.handshakeTimeout', 0,
      TIMEOUT_MAX)
  }
  if (transport !== undefined) {
    validateOneOf(transport, 'options.transport', TRANSPORTS)
  }
  if (offload !== undefined) validateOneOf(offload, 'options.offload', OFFLOADS)
}

/** @param {unknown} singleUse also an option of createSecureContext() */
function validateSingleUse (singleUse) {
  if (singleUse !== undefined) validateBoolean(singleUse, 'options.singleUse')
}

/**
 * The options of connect(socket[, options][, callback]). What is neither is an
 * error: options that get lost, say for a host in front of them, would be
 * missed only when they matter.
 *
 * @param {Array} rest all arguments but the socket
 * @returns {object | undefined}
 */
function findOptionsBeside (rest) {
  for (const arg of rest) {
    if (arg != null && typeof arg !== 'object' && typeof arg !== 'function') {
      throw new ERR_INVALID_ARG_TYPE('options', 'object', arg)
    }
  }
  return rest.find((arg) => typeof arg === 'object' && arg !== null)
}

function validateBoolean (value, name) {
  if (typeof value !== 'boolean') {
    throw new ERR_INVALID_ARG_TYPE(name, 'boolean', value)
  }
}

function validateInteger (value, name, min, max) {
  if (typeof value !== 'number') {
    throw new ERR_INVALID_ARG_TYPE(name, 'number', value)
  }
  if (!Number.isInteger(value)) {
    throw new ERR_OUT_OF_RANGE(name, 'an integer', value)
  }
  if (value < min || value > max) {
    throw new ERR_OUT_OF_RANGE(name, `>= ${min} && <= ${max}`, value)
  }
}

function validateOneOf (value, name, choices) {
  if (typeof value !== 'string') {
    throw new ERR_INVALID_ARG_TYPE(name, 'string', value)
  }
  if (!choices.includes(value)) {
    const list = choices.map((choice) => `'${choice}'`).join(', ')
    throw new ERR_INVALID_ARG_VALUE(name, value, `must be one of: ${list}`)
  }
}

module.exports = {
  findOptionsBeside,
  validateBoolean,
  validateInteger,
  validateOneOf,
  validateOwnOptions,
  validateSingleUse
}
