'use strict'

/**
 * What a connection trusts when no `ca` is given: the certificates that node
 * itself would use at this moment.
 */

const fs = require('node:fs')
const tls = require('node:tls')
const { isMainThread } = require('node:worker_threads')

const USE_OPENSSL_CA = /^--use[-_]openssl[-_]ca$/

// Captured at load; node reads both once, when the process starts.
const opensslCa = isOpensslCaRequested()
const extraFile = initialEnvironment('NODE_EXTRA_CA_CERTS')
// With --use-openssl-ca, what node lists as long as nobody replaced it.
const listAtLoad = opensslCa ? nodeList() : undefined

let fallbackList
let extraText

/**
 * Whether this process was started with --use-openssl-ca. process.execArgv
 * leaves out NODE_OPTIONS, and in a worker it may be the worker's own.
 */
function isOpensslCaRequested () {
  const fromEnvironment = initialEnvironment('NODE_OPTIONS') ?? ''
  const words = process.execArgv.concat(fromEnvironment.split(/[\s"]+/))
  if (!isMainThread) words.push(...commandLine())
  return words.some((word) => USE_OPENSSL_CA.test(word))
}

/** The command line's options for node itself, where the system shows it. */
function commandLine () {
  const [, ...words] = readNulSeparated('/proc/self/cmdline')
  const end = words.findIndex((word) => !word.startsWith('-'))
  return end === -1 ? words : words.slice(0, end)
}

/** A variable as it was when the process started, where that can be known. */
function initialEnvironment (name) {
  const value = process.env[name]
  if (process.platform !== 'linux') return value
  const variables = readNulSeparated('/proc/self/environ')
  if (variables.length === 0) return value
  const found = variables.find((text) => text.startsWith(`${name}=`))
  return found?.slice(name.length + 1)
}

function readNulSeparated (file) {
  try {
    return fs.readFileSync(file, 'utf8').split('\0').filter(Boolean)
  } catch {
    return []
  }
}

/** node's own list; undefined where this version does not tell. */
function nodeList () {
  return tls.getCACertificates?.('default')
}

/** The text of NODE_EXTRA_CA_CERTS, '' without one. node has already warned
 * of a file that it could not read. */
function readExtra () {
  if (extraText === undefined) {
    extraText = ''
    try {
      if (extraFile) extraText = fs.readFileSync(extraFile, 'latin1')
    } catch {}
  }
  return extraText
}

/**
 * The certificates that stand for "no ca given", as PEM texts. The same array
 * as long as they are the same certificates.
 *
 * @returns {readonly string[]}
 */
function defaultRoots () {
  const list = nodeList()
  if (list !== undefined) return list
  if (fallbackList === undefined) {
    const extra = readExtra()
    fallbackList = extra === ''
      ? tls.rootCertificates
      : Object.freeze([...tls.rootCertificates, extra])
  }
  return fallbackList
}

/**
 * With --use-openssl-ca: the PEM texts that OpenSSL's own paths are to be
 * completed with. null when defaultRoots() is all there is.
 *
 * @returns {readonly string[] | null}
 */
function opensslPathsExtra () {
  if (!opensslCa) return null
  const list = nodeList()
  // tls.setDefaultCACertificates() replaces OpenSSL's paths, too.
  if (list !== listAtLoad) return null
  if (list !== undefined) return list
  const extra = readExtra()
  return extra === '' ? [] : [extra]
}

module.exports = { defaultRoots, opensslPathsExtra }
