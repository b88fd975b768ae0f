'use strict'

/**
 * The binaries that clients run on.
 */

const { execFileSync } = require('node:child_process')
const fs = require('node:fs')
const path = require('node:path')
const { root } = require('./child')

const BUN = path.join(root, '.runtimes', 'bun', 'node_modules', '@oven',
  'bun-linux-x64', 'bin', 'bun')

/**
 * @param {string | undefined} wanted a path, or a version such as '22', which
 *   scripts/get-runtimes.sh fetches; default: the node that runs this
 */
function findNode (wanted) {
  if (wanted === undefined) return process.execPath
  if (!/^\d+$/.test(wanted)) return path.resolve(wanted)
  return execFileSync('bash', [
    path.join(root, 'scripts', 'get-runtimes.sh'), `node-${wanted}`
  ], { encoding: 'utf8' }).trim()
}

/** The path of Bun, or null: scripts/get-runtimes.sh bun fetches it. */
function findBun () {
  return fs.existsSync(BUN) ? BUN : null
}

/** What a JavaScript runtime says of itself. */
function describeRuntime (binary) {
  const script = 'console.log(JSON.stringify({ name: process.versions.bun ? ' +
    '"bun" : "node", version: process.versions.bun ?? process.versions.node, ' +
    'openssl: process.versions.openssl ?? process.versions.boringssl }))'
  const out = execFileSync(binary, ['-e', script], { encoding: 'utf8' })
  return JSON.parse(out)
}

module.exports = { describeRuntime, findBun, findNode }
