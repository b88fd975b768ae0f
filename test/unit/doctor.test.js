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
  return { status, stdout, stderr }
}

describe('eager-tls doctor', () => {
  it('says what is in use here', function () {
    const { status, stdout, stderr } = run(['doctor', '--json'])
    assert.equal(stderr, '')
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
    const { status, stdout, stderr } =
      run(['doctor'], { EAGER_TLS_BACKEND: 'node' })
    assert.equal(status, 1)
    assert.equal(stderr, '')
    assert.match(stdout, /^backend +node: EAGER_TLS_BACKEND=node asks for it\.$/m)
  })

  it('fails with the reason where the core cannot be loaded', () => {
    for (const [EAGER_TLS_BACKEND, backend] of [['', 'node'], ['native', null]]) {
      const { status, stdout, stderr } =
        run(['doctor', '--json'], { EAGER_TLS_BACKEND }, ['--no-addons'])
      assert.equal(status, 1)
      assert.equal(stderr, '')
      const findings = JSON.parse(stdout)
      assert.equal(findings.backend, backend)
      assert.match(findings.reason, /cannot be loaded|No binary/)
      assert.equal(findings.file, null)
    }
  })

  it('explains itself to those who call it in another way', () => {
    for (const [args, wrong] of [
      [['docter'], 'docter'], [['doctor', '--jsn'], '--jsn'],
      [['doctor', '--json', 'x'], 'x'], [[]]
    ]) {
      const { status, stdout, stderr } = run(args)
      assert.equal(status, 2)
      assert.equal(stdout, '')
      assert.match(stderr, /^Usage: eager-tls doctor/m)
      if (wrong === undefined) assert.match(stderr, /^Usage/)
      else assert.match(stderr, new RegExp(`^eager-tls: unknown argument: ${wrong}$`, 'm'))
    }
  })

  it('helps those who ask', () => {
    for (const args of [['--help'], ['-h'], ['doctor', '--help']]) {
      const { status, stdout, stderr } = run(args)
      assert.deepEqual([status, stderr], [0, ''])
      assert.match(stdout, /^Usage: eager-tls doctor/)
    }
  })

  it('says its version', () => {
    for (const flag of ['--version', '-v']) {
      assert.deepEqual(run([flag]),
        { status: 0, stdout: `${version}\n`, stderr: '' })
    }
  })
})
