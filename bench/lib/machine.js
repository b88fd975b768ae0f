'use strict'

const { execFileSync } = require('node:child_process')
const fs = require('node:fs')
const os = require('node:os')
const { root } = require('./child')

function attempt (read, otherwise) {
  try {
    return read()
  } catch {
    return otherwise
  }
}

function git (...args) {
  return execFileSync('git', args, {
    cwd: root, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore']
  }).trim()
}

function distribution () {
  const release = fs.readFileSync('/etc/os-release', 'utf8')
  return /^PRETTY_NAME="(.*)"$/m.exec(release)[1]
}

/** What the numbers depend on, as far as the machine tells. */
function describeMachine () {
  return {
    cpu: os.cpus()[0]?.model ?? 'unknown',
    cores: os.availableParallelism(),
    memoryGB: Math.round(os.totalmem() / 2 ** 30),
    kernel: `${os.type()} ${os.release()}`,
    system: attempt(distribution, os.platform()),
    loadBefore: os.loadavg()[0]
  }
}

/** The state of the sources: a commit, and whether files differ from it. Results
 * are no sources: a run would change the state of the next. */
function describeSources () {
  return {
    commit: attempt(() => git('rev-parse', 'HEAD'), 'unknown'),
    changed: attempt(() =>
      git('status', '--porcelain', '--', 'lib', 'src', 'bench',
        ':!bench/results') !== '', false)
  }
}

module.exports = { describeMachine, describeSources }
