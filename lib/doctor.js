'use strict'

/**
 * The command line. `npx eager-tls doctor`: what a user needs to know, or to
 * report, when something is not as it should be.
 */

const { existsSync, readdirSync } = require('node:fs')
const path = require('node:path')
const tls = require('node:tls')

const { version } = require('../package.json')
const { FALLBACK_MARK } = require('./constants')

const USAGE = `Usage: eager-tls doctor [--json]
       eager-tls --help | --version

doctor says which backend is in use here, and why. Exit status: 0 for the
native core, 1 otherwise, 2 for wrong arguments.
`

/** Loads the package as an application would, but for its warning. */
function load () {
  if (tls[FALLBACK_MARK] === undefined) {
    Object.defineProperty(tls, FALLBACK_MARK, { value: true })
  }
  const { backend, backendReason, createSecureContext } = require('./index')
  // That it loads is not yet proof that it works.
  createSecureContext({ ca: [] }).close()
  return { backend, reason: backendReason, file: require('./native').file }
}

/** The platforms that a binary was installed for. */
function listPrebuilds () {
  const directory = path.join(__dirname, '../prebuilds')
  return existsSync(directory) ? readdirSync(directory).sort() : []
}

/**
 * @returns {object} the findings, as --json prints them
 */
function examine () {
  let found
  try {
    found = load()
  } catch (error) {
    found = { backend: null, reason: error.message, file: null }
  }
  const { napi, node, openssl } = process.versions
  return {
    version,
    ...found,
    node,
    openssl,
    napi: napi === undefined ? null : Number(napi),
    platform: process.platform,
    arch: process.arch,
    prebuilds: listPrebuilds()
  }
}

function describe (findings) {
  const {
    arch, backend, file, napi, node, openssl, platform, prebuilds, reason
  } = findings
  const lines = [
    ['eager-tls', findings.version],
    ['backend', backend === 'native' ? 'native' : `${backend ?? 'none'}: ${reason}`],
    ['binary', file ?? 'none'],
    ['prebuilds', prebuilds.join(', ') || 'none'],
    ['Node', `${node} on ${platform}-${arch}`],
    ['OpenSSL', openssl ?? 'none'],
    ['Node-API', napi ?? 'none']
  ]
  return lines.map(([name, value]) => `${name.padEnd(10)} ${value}\n`).join('')
}

/** The first argument that is not known here; undefined: all are. */
function findWrong ([command, ...flags]) {
  return command === 'doctor' ? flags.find((flag) => flag !== '--json') : command
}

/**
 * @param {string[]} args of the command line
 * @param {(text: string) => void} print what was asked for
 * @param {(text: string) => void} complain of wrong arguments
 * @returns {number} exit status
 */
function main (args, print, complain) {
  if (args.includes('--help') || args.includes('-h')) {
    print(USAGE)
    return 0
  }
  if (args[0] === '--version' || args[0] === '-v') {
    print(`${version}\n`)
    return 0
  }
  const wrong = findWrong(args)
  if (args.length === 0 || wrong !== undefined) {
    if (wrong !== undefined) complain(`eager-tls: unknown argument: ${wrong}\n\n`)
    complain(USAGE)
    return 2
  }
  const findings = examine()
  print(args.includes('--json')
    ? `${JSON.stringify(findings, null, 2)}\n`
    : describe(findings))
  return findings.backend === 'native' ? 0 : 1
}

module.exports = { main }
