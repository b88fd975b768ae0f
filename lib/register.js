'use strict'

/**
 * Puts connect() and createSecureContext() in place of node:tls's, for code
 * that cannot be changed:
 *
 *   node --import eager-tls/register app.js
 *   require('eager-tls/register').restore()
 *
 * What has been done is noted on the module's object, which all module
 * registries of a thread share: only the first copy of this package acts.
 */

const { syncBuiltinESMExports } = require('node:module')
const tls = require('node:tls')

const { REGISTER_MARK } = require('./constants')
// Before anything is replaced: it takes the originals.
const { connect, createSecureContext } = require('./index')

function install () {
  if (tls[REGISTER_MARK] !== undefined) return
  const replaced = { connect, createSecureContext }
  const originals = {}
  for (const name of Object.keys(replaced)) {
    originals[name] = tls[name]
    tls[name] = replaced[name]
  }
  Object.defineProperty(tls, REGISTER_MARK, {
    configurable: true, enumerable: false, value: { originals, replaced }
  })
  // For those who have imported names of node:tls.
  syncBuiltinESMExports?.()
}

/**
 * Undoes it, whichever copy of this package has done it. A function that
 * somebody else has replaced since stays.
 */
function restore () {
  const mark = tls[REGISTER_MARK]
  if (mark === undefined) return
  for (const name of Object.keys(mark.replaced)) {
    if (tls[name] === mark.replaced[name]) tls[name] = mark.originals[name]
  }
  delete tls[REGISTER_MARK]
  syncBuiltinESMExports?.()
}

install()

module.exports = { restore }
