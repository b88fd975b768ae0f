'use strict'

/**
 * The keys and certificates of the demo and the benchmarks, made by pki.sh at
 * first use and kept in bench/.pki.
 */

const { execFileSync } = require('node:child_process')
const fs = require('node:fs')
const path = require('node:path')

const dir = path.join(__dirname, '..', '.pki')

/**
 * Makes them if they are not there.
 *
 * @param {{ bundle?: boolean }} [options] bundle: the one of 120 roots too
 * @returns {string} the directory
 */
function ensurePki ({ bundle = false } = {}) {
  const script = path.join(__dirname, '..', 'pki.sh')
  execFileSync('bash', [script, dir, ...(bundle ? ['bundle'] : [])], {
    stdio: ['ignore', 'ignore', 'inherit']
  })
  return dir
}

/** The content of one of the files. */
function readPki (name) {
  return fs.readFileSync(path.join(dir, name))
}

module.exports = { dir, ensurePki, readPki }
