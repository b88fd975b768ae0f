'use strict'

/**
 * Finds the native core, or says in one sentence why it cannot be used. It is
 * looked for once, when this module is loaded.
 *
 *   { binding, reason, file }  binding null: reason says why
 */

const fs = require('node:fs')
const { createRequire } = require('node:module')
const path = require('node:path')

const { STATE_NAMES } = require('./constants')

const PACKAGE_NAME = 'eager-tls'
const NAPI_VERSION_MIN = 8

/**
 * Why this runtime must not even try. Bun and Electron carry another library
 * in place of OpenSSL; a Node-API that is too old crashes instead of failing.
 *
 * @param {{ versions: object, isDeno: boolean, backend?: string }} runtime
 * @returns {string | null}
 */
function findRefusal ({ versions, isDeno, backend }) {
  if (backend === 'node') return 'EAGER_TLS_BACKEND=node asks for it.'
  if (versions.bun !== undefined) return 'Bun does not carry OpenSSL.'
  if (versions.electron !== undefined) return 'Electron does not carry OpenSSL.'
  if (isDeno || versions.deno !== undefined) {
    return 'Deno does not carry OpenSSL.'
  }
  // Not a number where the runtime has no Node-API at all.
  if (!(Number(versions.napi) >= NAPI_VERSION_MIN)) {
    return `Node-API version ${NAPI_VERSION_MIN} is needed, this runtime has ` +
      `${versions.napi ?? 'none'}.`
  }
  return null
}

/**
 * Where prebuilds/ or build/ may lie: in the package, beside a bundle that
 * this file is part of, or in a package that is still installed beside it.
 *
 * @param {string} here the directory of this file
 * @returns {string[]}
 */
function findRoots (here) {
  const roots = new Set()
  const parent = path.join(here, '..')
  if (isPackage(parent)) roots.add(parent)
  if (fs.existsSync(path.join(here, 'prebuilds'))) roots.add(here)
  try {
    const { resolve } = createRequire(path.join(here, 'index.js'))
    roots.add(path.dirname(resolve(`${PACKAGE_NAME}/package.json`)))
  } catch {}
  return [...roots]
}

function isPackage (root) {
  try {
    const text = fs.readFileSync(path.join(root, 'package.json'), 'utf8')
    return JSON.parse(text).name === PACKAGE_NAME
  } catch {
    return false
  }
}

/** Loads the binary under one of the roots. */
function loadFrom (roots) {
  if (roots.length === 0) {
    return failure('The binary is not where it was installed: when bundling, ' +
      `leave ${PACKAGE_NAME} out of the bundle or put its prebuilds/ beside it.`)
  }
  let first
  for (const root of roots) {
    const result = loadFile(root)
    if (result.binding !== null) return result
    first ??= result
  }
  return first
}

function loadFile (root) {
  let file
  try {
    file = require('node-gyp-build').path(root)
  } catch (error) {
    return failure(`No binary for ${process.platform}-${process.arch} was ` +
      `found in ${root}: where a C compiler is, npm rebuild ${PACKAGE_NAME} ` +
      'makes one.', error)
  }
  try {
    const binding = createRequire(file)(file)
    if (String(binding.states) !== String(STATE_NAMES)) {
      return failure(`The binary ${file} belongs to another version.`)
    }
    return { binding, reason: null, file }
  } catch (error) {
    const [line] = String(error?.message).split('\n', 1)
    return failure(`The binary ${file} cannot be loaded: ${line}`, error)
  }
}

function failure (reason, cause) {
  return { binding: null, reason, cause }
}

function load () {
  const backend = process.env.EAGER_TLS_BACKEND
  const refusal = findRefusal({
    backend, isDeno: 'Deno' in globalThis, versions: process.versions
  })
  const result = refusal === null
    // A bundle of ES modules has no directory.
    ? loadFrom(typeof __dirname === 'string' ? findRoots(__dirname) : [])
    : failure(refusal)
  if (backend === 'native' && result.binding === null) {
    const error = new Error('EAGER_TLS_BACKEND=native, but there is no ' +
      `native core: ${result.reason}`, { cause: result.cause })
    error.code = 'ERR_EAGER_TLS_INTERNAL'
    throw error
  }
  return result
}

const { binding, reason, file = null } = load()

module.exports = { binding, file, findRefusal, findRoots, reason }
