'use strict'

/**
 * The keys and certificates of the demo and the benchmarks, made by pki.sh at
 * first use and kept in bench/.pki.
 */

const { execFileSync, spawnSync } = require('node:child_process')
const fs = require('node:fs')
const path = require('node:path')

const root = path.join(__dirname, '..', '..')
const dir = path.join(root, 'bench', '.pki')

function bash (args) {
  execFileSync('bash', args, { stdio: ['ignore', 'ignore', 'inherit'] })
}

/**
 * Makes them if they are not there.
 *
 * @param {{ bundle?: boolean }} [options] bundle: the one of 120 roots too
 * @returns {string} the directory
 */
function ensurePki ({ bundle = false } = {}) {
  if (spawnSync('openssl', ['version']).status !== 0) {
    bash([path.join(root, 'scripts', 'ensure-deps.sh'), 'unit'])
  }
  bash([path.join(root, 'bench', 'pki.sh'), dir, ...(bundle ? ['bundle'] : [])])
  return dir
}

/** The content of one of the files. */
function readPki (name) {
  return fs.readFileSync(path.join(dir, name))
}

module.exports = { dir, ensurePki, readPki }
