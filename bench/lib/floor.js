'use strict'

/**
 * The C program: built on demand against the system's OpenSSL.
 */

const { execFileSync } = require('node:child_process')
const fs = require('node:fs')
const path = require('node:path')

const source = path.join(__dirname, '..', 'floor.c')
const build = path.join(__dirname, '..', '.build')
const binary = path.join(build, 'floor')

/** @returns {string | null} its path; null where it cannot be built */
function ensureFloor () {
  if (fs.existsSync(binary) &&
      fs.statSync(binary).mtimeMs >= fs.statSync(source).mtimeMs) return binary
  fs.mkdirSync(build, { recursive: true })
  const next = `${binary}.${process.pid}`
  try {
    execFileSync(process.env.CC ?? 'cc', [
      '-std=c11', '-D_GNU_SOURCE', '-O2', '-Wall', '-Wextra', '-o', next, source,
      '-lssl', '-lcrypto'
    ], { stdio: ['ignore', 'ignore', 'pipe'] })
  } catch (error) {
    process.stderr.write('floor.c cannot be built here (a C compiler and ' +
      `libssl-dev are needed): ${String(error.stderr ?? error).slice(0, 500)}\n`)
    return null
  }
  fs.renameSync(next, binary)
  return binary
}

/** The OpenSSL that it runs on. */
function describeFloor () {
  return JSON.parse(execFileSync(binary, ['version'], { encoding: 'utf8' }))
}

module.exports = { describeFloor, ensureFloor }
