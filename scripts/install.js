'use strict'

// npm's install step: keeps a prebuilt binary that loads, else builds from
// source, with the headers that came with node where there are any.

const { findNodeDir } = require('./node-dir')

const nodeDir = findNodeDir()
if (nodeDir !== null && process.env.npm_config_nodedir === undefined) {
  process.env.npm_config_nodedir = nodeDir
}

require('node-gyp-build/bin')
