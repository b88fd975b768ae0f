'use strict'

// npm's install step: keeps a prebuilt binary that loads, else builds from
// source, with the headers that came with node where there are any. Where that
// cannot be done, the package runs on node:tls and says so when it is used:
// nobody's installation fails for it, unless they asked for a build. In a clone
// what is there may be older than the sources: it is brought up to date.

const { spawnSync } = require('node:child_process')
const fs = require('node:fs')
const path = require('node:path')

const { findNodeDir } = require('./node-dir')

const env = { ...process.env }
const nodeDir = findNodeDir()
if (nodeDir !== null) env.npm_config_nodedir ??= nodeDir

/** The tarball is without scripts/build.js, and an installation without
 * development dependencies without what that needs. */
function findStep () {
  const build = path.join(__dirname, 'build.js')
  try {
    require.resolve('node-gyp/bin/node-gyp.js')
    if (fs.existsSync(build)) return build
  } catch {}
  return require.resolve('node-gyp-build/bin.js')
}

const { status } = spawnSync(process.execPath, [findStep()],
  { env, stdio: 'inherit' })

if (status !== 0) {
  const demanded = env.npm_config_build_from_source === 'true'
  console.error('eager-tls: the native core could not be built here' +
    (demanded ? '.' : '; node:tls will be used in its place.'))
  if (demanded) process.exitCode = 1
}
