'use strict'

const fs = require('node:fs')
const path = require('node:path')

const tools = path.join(__dirname, '..', 'tools', 'node_modules')

/** A file of the tools that test/run.js installs beside this package's own
 * dependencies. */
function tool (...names) {
  const file = path.join(tools, ...names)
  if (!fs.existsSync(file)) {
    throw new Error(`${file} is missing: npm ci --prefix test/package/tools`)
  }
  return file
}

module.exports = { tool }
