'use strict'

/**
 * The libraries that reports are drawn with are no dependencies of the package:
 * they are installed into bench/node_modules when the first script needs them.
 */

const { spawnSync } = require('node:child_process')
const fs = require('node:fs')
const path = require('node:path')

const bench = path.join(__dirname, '..')

function missing () {
  const { dependencies } = JSON.parse(
    fs.readFileSync(path.join(bench, 'package.json'), 'utf8'))
  return Object.keys(dependencies).some((name) =>
    !fs.existsSync(path.join(bench, 'node_modules', name, 'package.json')))
}

/** Runs `npm ci` in bench if it has not been. Throws where it cannot. */
function ensureInstalled () {
  if (!missing()) return
  process.stderr.write('installing what the charts are drawn with (bench/)\n')
  const npm = process.env.npm_execpath
  const [command, ...args] = npm?.endsWith('.js')
    ? [process.execPath, npm]
    : ['npm']
  const { status } = spawnSync(command, [
    ...args, 'ci', '--prefix', bench, '--ignore-scripts', '--no-fund',
    '--no-audit', '--loglevel=error'
  ], { cwd: bench, stdio: ['ignore', 2, 2] })
  if (status !== 0) throw new Error('npm ci in bench/ failed')
}

module.exports = { ensureInstalled }
