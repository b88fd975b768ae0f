'use strict'

const assert = require('node:assert/strict')
const { spawnSync } = require('node:child_process')
const path = require('node:path')

const { version } = require('../../package.json')
const { binding, file, reason } = require('../../lib/native')

const BIN = path.join(__dirname, '../../bin/eager-tls.js')

function run (args, env = {}, flags = []) {
  const { status, stdout, stderr } = spawnSync(process.execPath,
    [...flags, BIN, ...args], {
      encoding: 'utf8', env: { ...process.env, EAGER_TLS_BACKEND: '', ...env }
    })
  assert.equal(stderr, '')
  return { status, stdout }
}

describe('eager-tls doctor', () => {
  it('says what is in use here', function () {
    const { status, stdout } = run(['doctor', '--json'])
    const findings = JSON.parse(stdout)
    const { EAGER_TLS_BACKEND } = process.env
    // Not what this very process was told to use.
    if (EAGER_TLS_BACKEND !== 'node') {
      assert.equal(findings.backend, binding === null ? 'node' : 'native')
      assert.equal(findings.reason, reason)
      assert.equal(findings.file, file)
    }
    assert.equal(status, findings.backend === 'native' ? 0 : 1)
    assert.equal(findings.version, version)
    assert.equal(findings.node, process.versions.node)
    assert.equal(findings.openssl, process.versions.openssl)
    assert.equal(findings.napi, Number(process.versions.napi))
    assert.ok(Array.isArray(findings.prebuilds))
  })

  it('says it in a few lines to people', () => {
    const { stdout } = run(['doctor'])
    const lines = stdout.trimEnd().split('\n')
    assert.equal(lines.length, 7)
    assert.match(stdout, new RegExp(`^eager-tls +${version}$`, 'm'))
    assert.match(stdout, /^backend +\w+/m)
    assert.ok(stdout.includes(process.versions.openssl))
  })

  it('fails with the reason on the fallback', () => {
    const { status, stdout } = run(['doctor'], { EAGER_TLS_BACKEND: 'node' })
    assert.equal(status, 1)
    assert.match(stdout, /^backend +node: EAGER_TLS_BACKEND=node asks for it\.$/m)
  })

  it('fails with the reason where the core cannot be loaded', () => {
    for (const [EAGER_TLS_BACKEND, backend] of [['', 'node'], ['native', null]]) {
      const { status, stdout } =
        run(['doctor', '--json'], { EAGER_TLS_BACKEND }, ['--no-addons'])
      assert.equal(status, 1)
      const findings = JSON.parse(stdout)
      assert.equal(findings.backend, backend)
      assert.match(findings.reason, /cannot be loaded|No binary/)
      assert.equal(findings.file, null)
    }
  })

  it('explains itself to those who call it in another way', () => {
    for (const args of [[], ['docter'], ['doctor', '--jsn'], ['-v']]) {
      const { status, stdout } = run(args)
      assert.equal(status, 2)
      assert.match(stdout, /^Usage: eager-tls doctor/)
    }
    assert.equal(run(['--help']).status, 0)
  })
})
