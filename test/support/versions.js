'use strict'

/** What differs between the versions of node that the tests run on. */

const major = Number(process.versions.node.split('.')[0])

/** The code of the alert handshake_failure: OpenSSL 3.5 renamed its reason. */
const HANDSHAKE_FAILURE = process.versions.openssl.startsWith('3.0.')
  ? 'ERR_SSL_SSLV3_ALERT_HANDSHAKE_FAILURE'
  : 'ERR_SSL_SSL/TLS_ALERT_HANDSHAKE_FAILURE'

/** An address as servername: refused in newer versions, a warning before. */
const REFUSES_ADDRESS_AS_SERVERNAME = major >= 26

module.exports = { HANDSHAKE_FAILURE, REFUSES_ADDRESS_AS_SERVERNAME }
