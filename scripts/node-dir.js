'use strict'

const fs = require('node:fs')
const path = require('node:path')

/**
 * The directory whose `include/node` holds the headers that came with the
 * running node, or null where it came without them (then node-gyp fetches them).
 *
 * @returns {string | null}
 */
function findNodeDir () {
  const prefix = path.resolve(fs.realpathSync(process.execPath), '..', '..')
  const header = path.join(prefix, 'include', 'node', 'openssl', 'ssl.h')
  return fs.existsSync(header) ? prefix : null
}

module.exports = { findNodeDir }
