'use strict'

const assert = require('node:assert/strict')
const { spawnSync } = require('node:child_process')
const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')

const SCRIPTS = path.join(__dirname, '../../scripts')

const STEPS = {
  clone: 'scripts/build.js',
  developer: 'node_modules/node-gyp/bin/node-gyp.js',
  user: 'node_modules/node-gyp-build/bin.js'
}

/** Runs npm's install step in a package that has these steps to choose from,
 * all of which end with `status`. */
function install (steps, status, env = {}) {
  const root = fs.mkdtempSync(path.join(os.tmpdir(), 'eager-tls-install-'))
  try {
    fs.mkdirSync(path.join(root, 'scripts'))
    for (const name of ['install.js', 'node-dir.js']) {
      fs.copyFileSync(path.join(SCRIPTS, name), path.join(root, 'scripts', name))
    }
    for (const step of steps) {
      const file = path.join(root, STEPS[step])
      fs.mkdirSync(path.dirname(file), { recursive: true })
      fs.writeFileSync(file,
        `console.log('${step}'); process.exitCode = ${status}`)
    }
    return spawnSync(process.execPath, [path.join(root, 'scripts/install.js')],
      { encoding: 'utf8', env: { ...process.env, ...env } })
  } finally {
    fs.rmSync(root, { recursive: true })
  }
}

describe('the install step', () => {
  it('brings the build of a clone up to date', () => {
    const { status, stdout, stderr } = install(['clone', 'developer', 'user'], 0)
    assert.deepEqual([status, stdout, stderr], [0, 'clone\n', ''])
  })

  it('keeps what loads, everywhere else', () => {
    for (const steps of [['user'], ['developer', 'user'], ['clone', 'user']]) {
      const { status, stdout, stderr } = install(steps, 0)
      assert.deepEqual([status, stdout, stderr], [0, 'user\n', ''])
    }
  })

  it('fails only for those who have asked for a build', () => {
    for (const [asked, expected, text] of [
      ['', 0, /could not be built here; node:tls will be used/],
      ['true', 1, /could not be built here\.$/m]
    ]) {
      const { status, stderr } = install(['user'], 1,
        { npm_config_build_from_source: asked })
      assert.equal(status, expected)
      assert.match(stderr, text)
    }
  })
})
