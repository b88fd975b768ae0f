'use strict'

// Makes the binary that the package brings for this platform:
//
//   node scripts/prebuild.js [--verbose]
//   -> prebuilds/<platform>-<arch>/eager-tls[.<libc>].node
//
// It is built in .prebuild, against the headers of the running node: that has
// to be the oldest version that the package supports, since a binary made for
// a newer OpenSSL may ask for functions that an older one does not have.
// docs/releasing.md says on which machines.

const fs = require('node:fs')
const path = require('node:path')
const prebuildify = require('prebuildify')

const { engines } = require('../package.json')
const { findNodeDir } = require('./node-dir')
const { makeShadowTree } = require('./shadow-tree')

const root = path.join(__dirname, '..')
const oldest = engines.node.match(/\d+/)[0]

const wrong = process.argv.slice(2).find((arg) => arg !== '--verbose')
if (wrong !== undefined) {
  console.error(`prebuild: unknown argument: ${wrong}; there is --verbose`)
  process.exit(2)
}

if (process.versions.node.split('.')[0] !== oldest) {
  console.error(`prebuild: node ${oldest} is needed, this is ${process.version}`)
  process.exit(1)
}

const shadow = path.join(root, '.prebuild')
makeShadowTree(shadow)

// Unset, node-gyp fetches the headers.
const nodeDir = findNodeDir()
if (nodeDir !== null) process.env.npm_config_nodedir ??= nodeDir

const { platform } = process
const directory = path.join(root, 'prebuilds', `${platform}-${process.arch}`)

prebuildify({
  cwd: shadow,
  out: root,
  napi: true,
  // The only target of node-gyp is the version whose headers it takes.
  targets: [process.versions.node],
  strip: true,
  tagLibc: platform === 'linux',
  nodeGyp: path.join(root, 'node_modules', '.bin',
    platform === 'win32' ? 'node-gyp.cmd' : 'node-gyp'),
  quiet: !process.argv.includes('--verbose')
}, (error) => {
  if (error) {
    console.error(`prebuild: ${error.message}; --verbose shows more`)
    process.exitCode = 1
    return
  }
  for (const name of fs.readdirSync(directory)) {
    const file = path.join(directory, name)
    console.log(`${path.relative(root, file)}  ${fs.statSync(file).size} bytes`)
  }
})
