'use strict'

// Builds the addon from source, incrementally, into build/Release:
//
//   node scripts/build.js [--werror] [--sanitize=address,undefined]
//
// A sanitized build goes to .sanitized/build/Release, so that it never takes
// the place of the ordinary one: use it with EAGER_TLS_PREBUILD=.sanitized
// and the runtime of the sanitizer in LD_PRELOAD (scripts/test-sanitized.sh).

const { spawnSync } = require('node:child_process')
const path = require('node:path')
const { parseArgs } = require('node:util')
const { findNodeDir } = require('./node-dir')
const { makeShadowTree } = require('./shadow-tree')

const root = path.join(__dirname, '..')

const values = readArguments()

/** Ends the process if it is called in another way. */
function readArguments () {
  try {
    return parseArgs({
      options: {
        werror: { type: 'boolean', default: false },
        sanitize: { type: 'string' }
      }
    }).values
  } catch (error) {
    console.error(`build: ${error.message}; ` +
      'there are --werror and --sanitize=address,undefined')
    process.exit(2)
  }
}

const args = [
  require.resolve('node-gyp/bin/node-gyp.js'), 'configure', 'build',
  '--loglevel=warn', '--jobs=max'
]
let cwd = root

const nodeDir = findNodeDir()
if (nodeDir !== null) args.push(`--nodedir=${nodeDir}`)
if (values.werror) args.push('--etls_werror=1')
if (values.sanitize !== undefined) {
  cwd = path.join(root, '.sanitized')
  makeShadowTree(cwd)
  args.push(`--etls_sanitize=${values.sanitize}`)
}

const { status, error } = spawnSync(process.execPath, args, {
  cwd, stdio: 'inherit'
})
if (error) throw error
process.exitCode = status ?? 1
