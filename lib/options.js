'use strict'

/**
 * The options of tls.createSecureContext() -> what the native core builds a
 * context from. Checked in node's order, with node's errors. This runs on
 * every connect: nothing is copied, least of all keys and certificates.
 */

const { constants: { SSL_OP_CIPHER_SERVER_PREFERENCE } } = require('node:crypto')
const tls = require('node:tls')

const { METHOD, OPTION, TICKET_KEYS_LENGTH, VERSION } = require('./constants')
const { defaultRoots, opensslPathsExtra } = require('./default-roots')
const {
  ERR_INVALID_ARG_TYPE,
  ERR_INVALID_ARG_VALUE,
  ERR_OUT_OF_RANGE,
  ERR_TLS_INVALID_PROTOCOL_VERSION,
  ERR_TLS_PROTOCOL_VERSION_CONFLICT,
  bindingError
} = require('./errors')

const BYTES = ['string', 'Buffer', 'TypedArray', 'DataView']
const BUFFER = ['Buffer', 'TypedArray', 'DataView']
const INT32_MAX = 2 ** 31 - 1
const SPLIT_CIPHERS_MAX = 64

const NO_OPTIONS = Object.freeze({ __proto__: null })
// Since 24.
const HAS_CERTIFICATE_COMPRESSION =
  typeof tls.getCertificateCompressionAlgorithms === 'function'

// secureProtocol -> [method, lowest, highest]; undefined: the default.
const PROTOCOLS = new Map()
for (const [suffix, method] of [
  ['method', METHOD.ANY],
  ['client_method', METHOD.CLIENT],
  ['server_method', METHOD.SERVER]
]) {
  PROTOCOLS.set(`SSLv23_${suffix}`, [method, undefined, VERSION['TLSv1.2']])
  PROTOCOLS.set(`TLS_${suffix}`, [method, VERSION.LOWEST, VERSION['TLSv1.3']])
  for (const name of ['TLSv1', 'TLSv1.1', 'TLSv1.2']) {
    PROTOCOLS.set(`${name.replace('.', '_')}_${suffix}`,
      [method, VERSION[name], VERSION[name]])
  }
}
const SSL_DISABLED = /^(SSLv[23])(_client|_server)?_method$/

/**
 * One list of values in ascending order of option, three places each: number,
 * value, passphrase.
 */
class Fields {
  list = []

  add (option, value, passphrase) {
    this.list.push(option, value, passphrase)
  }
}

/**
 * Checks the options of a secure context and puts them in the core's form.
 *
 * @param {object} [options] as tls.createSecureContext takes them
 * @returns {{ fields: Array | null, unsupported: string | null,
 *   usesDefaultRoots: boolean }} `fields`: [option, value, passphrase, ...],
 *   values are strings, ArrayBufferViews and numbers as they were given.
 *   `unsupported`: the option that the core does not know; node:tls must
 *   build this context, and check its options. `usesDefaultRoots`:
 *   defaultRoots() decides what the context trusts.
 */
function flattenContextOptions (options) {
  options ||= NO_OPTIONS
  const unsupported = findUnsupported(options)
  if (unsupported !== null) {
    return { fields: null, unsupported, usesDefaultRoots: false }
  }
  const fields = new Fields()
  const range = addProtocol(fields, options)
  if (typeof options !== 'object' || Array.isArray(options)) {
    throw new ERR_INVALID_ARG_TYPE('options', 'object', options)
  }
  addCiphers(fields, options, range)
  const usesDefaultRoots = addTrust(fields, options)
  addIdentity(fields, options)
  addParameters(fields, options)
  addPfx(fields, options)
  addTickets(fields, options)
  return { fields: fields.list, unsupported: null, usesDefaultRoots }
}

function findUnsupported ({
  certificateCompression, clientCertEngine, privateKeyIdentifier
}) {
  if (clientCertEngine != null) return 'clientCertEngine'
  if (privateKeyIdentifier != null) return 'privateKeyIdentifier'
  if (HAS_CERTIFICATE_COMPRESSION && certificateCompression != null &&
      !(Array.isArray(certificateCompression) &&
        certificateCompression.length === 0)) {
    return 'certificateCompression'
  }
  return null
}

/**
 * Method, versions and SSL_OP_* bits. The lowest version is added later:
 * ciphers may raise it.
 */
function addProtocol (fields, options) {
  const { minVersion, maxVersion, secureProtocol } = options
  if (secureProtocol) {
    const version = minVersion ?? maxVersion
    if (version != null) {
      throw new ERR_TLS_PROTOCOL_VERSION_CONFLICT(version, secureProtocol)
    }
  }
  let min = versionNumber('minimum', minVersion ?? tls.DEFAULT_MIN_VERSION)
  let max = versionNumber('maximum', maxVersion ?? tls.DEFAULT_MAX_VERSION)
  // As in node, what is neither a string nor falsy only conflicts.
  if (typeof secureProtocol === 'string') {
    const [method, lowest, highest] = findProtocol(secureProtocol)
    if (method !== METHOD.ANY) fields.add(OPTION.METHOD, method)
    min = lowest ?? min
    max = highest
  }
  let { secureOptions } = options
  if (options.honorCipherOrder) {
    secureOptions |= SSL_OP_CIPHER_SERVER_PREFERENCE
  }
  if (secureOptions) validateInteger(secureOptions, 'secureOptions')
  return { min, max, secureOptions }
}

function versionNumber (which, version) {
  switch (version) {
    case 'TLSv1': return VERSION.TLSv1
    case 'TLSv1.1': return VERSION['TLSv1.1']
    case 'TLSv1.2': return VERSION['TLSv1.2']
    case 'TLSv1.3': return VERSION['TLSv1.3']
    default: throw new ERR_TLS_INVALID_PROTOCOL_VERSION(version, which)
  }
}

function findProtocol (name) {
  const found = PROTOCOLS.get(name)
  if (found !== undefined) return found
  const disabled = SSL_DISABLED.exec(name)
  throw bindingError(TypeError, 'ERR_TLS_INVALID_PROTOCOL_METHOD',
    disabled ? `${disabled[1]} methods disabled` : `Unknown method: ${name}`)
}

function addCiphers (fields, options, { min, max, secureOptions }) {
  const { ciphers } = options
  if (ciphers != null) validateString(ciphers, 'options.ciphers')
  const { suites, list } = splitCiphers(ciphers || tls.DEFAULT_CIPHERS)
  // Only suites of TLS 1.3: nothing older can be negotiated.
  if (list === '' && min < VERSION['TLSv1.3'] && max > VERSION['TLSv1.2']) {
    min = VERSION['TLSv1.3']
  }
  fields.add(OPTION.MIN_VERSION, min)
  fields.add(OPTION.MAX_VERSION, max)
  if (secureOptions) fields.add(OPTION.SECURE_OPTIONS, secureOptions)
  if (suites !== '') fields.add(OPTION.CIPHER_SUITES, suites)
  fields.add(OPTION.CIPHER_LIST, list)
}

const splitCiphersMemo = new Map()

/** OpenSSL takes TLS 1.3 suites and older ciphers by different functions. */
function splitCiphers (ciphers) {
  let split = splitCiphersMemo.get(ciphers)
  if (split !== undefined) return split
  const names = ciphers.split(':')
  const isSuite = (name) => name.startsWith('TLS_') || name.startsWith('!TLS_')
  const used = names.filter((name) => name !== '')
  if (used.length === 0) {
    throw new ERR_INVALID_ARG_VALUE('options.ciphers', names)
  }
  split = {
    suites: used.filter(isSuite).join(':'),
    list: used.filter((name) => !isSuite(name)).join(':')
  }
  if (splitCiphersMemo.size >= SPLIT_CIPHERS_MAX) splitCiphersMemo.clear()
  splitCiphersMemo.set(ciphers, split)
  return split
}

/** @returns {boolean} whether the default roots are used */
function addTrust (fields, options) {
  const { ca } = options
  let usesDefaultRoots = false
  if (ca) {
    addEach(fields, OPTION.CA, ca, 'options.ca')
  } else {
    usesDefaultRoots = addDefaultTrust(fields)
  }
  if (options.allowPartialTrustChain) fields.add(OPTION.PARTIAL_CHAIN, 1)
  return usesDefaultRoots
}

function addDefaultTrust (fields) {
  const extra = opensslPathsExtra()
  if (extra === null) {
    fields.add(OPTION.DEFAULT_ROOTS, 1)
    return true
  }
  for (const pem of extra) fields.add(OPTION.CA, pem)
  fields.add(OPTION.OPENSSL_CA, 1)
  return false
}

function addEach (fields, option, values, name) {
  if (!Array.isArray(values)) {
    validateBytes(values, name)
    fields.add(option, values)
    return
  }
  values.forEach((value) => {
    validateBytes(value, name)
    fields.add(option, value)
  })
}

function addIdentity (fields, options) {
  const { cert, key, passphrase, sigalgs } = options
  if (cert) addEach(fields, OPTION.CERT, cert, 'options.cert')
  if (Array.isArray(key)) {
    // By index: unlike `ca`, holes count.
    for (let i = 0; i < key.length; i++) {
      const item = key[i]
      addKey(fields, item?.pem !== undefined ? item.pem : item,
        item?.passphrase !== undefined ? item.passphrase : passphrase)
    }
  } else if (key) {
    addKey(fields, key, passphrase)
  }
  if (sigalgs != null) {
    validateString(sigalgs, 'options.sigalgs')
    if (sigalgs === '') {
      throw new ERR_INVALID_ARG_VALUE('options.sigalgs', sigalgs)
    }
    fields.add(OPTION.SIGALGS, sigalgs)
  }
}

function addKey (fields, pem, passphrase) {
  validateBytes(pem, 'options.key')
  if (passphrase != null) validateString(passphrase, 'options.passphrase')
  fields.add(OPTION.KEY, pem, passphrase ?? undefined)
}

function addParameters (fields, options) {
  const { crl, dhparam, sessionIdContext } = options
  let { ecdhCurve } = options
  if (ecdhCurve === undefined) ecdhCurve = tls.DEFAULT_ECDH_CURVE || 'auto'
  validateString(ecdhCurve, 'options.ecdhCurve')
  if (ecdhCurve !== 'auto') fields.add(OPTION.ECDH_CURVE, ecdhCurve)
  if (dhparam != null) {
    validateBytes(dhparam, 'options.dhparam')
    addDhParam(fields, dhparam)
  }
  if (crl != null) addEach(fields, OPTION.CRL, crl, 'options.crl')
  if (sessionIdContext != null) {
    validateString(sessionIdContext, 'options.sessionIdContext')
    fields.add(OPTION.SESSION_ID_CONTEXT, sessionIdContext)
  }
}

/** The core takes empty bytes for "auto"; node takes them for nothing. */
function addDhParam (fields, dhparam) {
  const length = typeof dhparam === 'string'
    ? dhparam.length
    : dhparam.byteLength
  if (length !== 0) {
    fields.add(OPTION.DH_PARAM, dhparam === 'auto' ? '' : dhparam)
  }
}

function addPfx (fields, options) {
  const { pfx, passphrase } = options
  if (pfx == null) return
  if (!Array.isArray(pfx)) {
    addPfxItem(fields, pfx, passphrase || undefined)
    return
  }
  pfx.forEach((item) => {
    addPfxItem(fields, item.buf || item, item.passphrase || passphrase)
  })
}

function addPfxItem (fields, pfx, passphrase) {
  if (!isBytes(pfx)) {
    throw bindingError(Error, 'ERR_CRYPTO_OPERATION_FAILED',
      'Unable to load PFX certificate')
  }
  if (passphrase != null && !isBytes(passphrase)) {
    throw bindingError(TypeError, 'ERR_INVALID_ARG_TYPE',
      'Pass phrase must be a buffer')
  }
  fields.add(OPTION.PFX, pfx, passphrase ?? undefined)
}

function addTickets (fields, options) {
  const { sessionTimeout, ticketKeys } = options
  if (ticketKeys != null) {
    if (!ArrayBuffer.isView(ticketKeys)) {
      throw new ERR_INVALID_ARG_TYPE('options.ticketKeys', BUFFER, ticketKeys)
    }
    if (ticketKeys.byteLength !== TICKET_KEYS_LENGTH) {
      throw new ERR_INVALID_ARG_VALUE('options.ticketKeys',
        ticketKeys.byteLength, `must be exactly ${TICKET_KEYS_LENGTH} bytes`)
    }
    fields.add(OPTION.TICKET_KEYS, ticketKeys)
  }
  if (sessionTimeout != null) {
    validateInteger(sessionTimeout, 'options.sessionTimeout', 0, INT32_MAX)
    fields.add(OPTION.SESSION_TIMEOUT, sessionTimeout)
  }
}

function isBytes (value) {
  return typeof value === 'string' || ArrayBuffer.isView(value)
}

function validateBytes (value, name) {
  if (!isBytes(value)) throw new ERR_INVALID_ARG_TYPE(name, BYTES, value)
}

function validateString (value, name) {
  if (typeof value !== 'string') {
    throw new ERR_INVALID_ARG_TYPE(name, 'string', value)
  }
}

function validateInteger (value, name, min = Number.MIN_SAFE_INTEGER,
  max = Number.MAX_SAFE_INTEGER) {
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

module.exports = { defaultRoots, flattenContextOptions }
