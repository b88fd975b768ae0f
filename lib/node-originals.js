'use strict'

/**
 * node:tls's own functions, whoever has been put in their place since.
 * lib/register.js leaves the originals on the module's object, which all
 * module registries and vm contexts of a thread share.
 */

const tls = require('node:tls')

const { REGISTER_MARK } = require('./constants')

const { connect, createSecureContext } = tls[REGISTER_MARK]?.originals ?? tls

/** Whether node's own connect() is not the one that users get. */
function isReplaced () {
  return tls.connect !== connect
}

/** Whether a third party has put its own tls.createSecureContext() there. */
function isCreateSecureContextForeign () {
  return tls.createSecureContext !== createSecureContext &&
    tls.createSecureContext !== tls[REGISTER_MARK]?.replaced.createSecureContext
}

module.exports = {
  connect, createSecureContext, isCreateSecureContextForeign, isReplaced
}
