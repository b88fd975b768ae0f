'use strict'

const fs = require('node:fs')
const path = require('node:path')

const linked = ['binding.gyp', 'deps', 'node_modules', 'package.json', 'src']

/**
 * Makes a directory of the project that holds the sources of the addon by
 * links: what is built in it never takes the place of the ordinary build/.
 *
 * @param {string} dir right below the project's own directory
 */
function makeShadowTree (dir) {
  fs.mkdirSync(dir, { recursive: true })
  for (const name of linked) {
    const link = path.join(dir, name)
    if (!fs.existsSync(link)) fs.symlinkSync(path.join('..', name), link)
  }
}

module.exports = { makeShadowTree }
