'use strict'

const assert = require('node:assert/strict')
const { execFileSync } = require('node:child_process')
const { X509Certificate } = require('node:crypto')
const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const tls = require('node:tls')
const { inspect } = require('node:util')

const { defaultRoots } = require('../../lib/options')

const LIB = path.join(__dirname, '../../lib')

/** The same certificate, however its lines are broken. */
function assertSameCertificate (actual, expected) {
  assert.equal(new X509Certificate(actual).fingerprint256,
    new X509Certificate(expected).fingerprint256)
}

describe('defaultRoots', () => {
  let directory
  before(() => {
    directory = fs.mkdtempSync(path.join(os.tmpdir(), 'eager-tls-roots-'))
  })
  after(() => fs.rmSync(directory, { recursive: true }))

  /** Runs code in a process of its own and gives what it printed. */
  function run (code, { args = [], env = {}, stdio = 'inherit' } = {}) {
    const clean = { ...process.env }
    delete clean.NODE_EXTRA_CA_CERTS
    delete clean.NODE_OPTIONS
    const output = execFileSync(process.execPath, [...args, '-e', `
      const tls = require('node:tls')
      const { OPTION } = require(${JSON.stringify(`${LIB}/constants`)})
      const { defaultRoots, flattenContextOptions } =
        require(${JSON.stringify(`${LIB}/options`)})
      console.log(JSON.stringify((() => { ${code} })()))
    `], { env: { ...clean, ...env }, stdio: ['ignore', 'pipe', stdio] })
    return JSON.parse(output)
  }

  it('is the same list as long as nothing changes', () => {
    assert.equal(defaultRoots(), defaultRoots())
    assert.ok(defaultRoots().length >= tls.rootCertificates.length)
  })

  it('adds the file that NODE_EXTRA_CA_CERTS named at the start', () => {
    const file = path.join(directory, 'extra.pem')
    fs.writeFileSync(file, tls.rootCertificates[0])
    const [count, last] = run(
      'const all = defaultRoots(); return [all.length, all.at(-1)]',
      { env: { NODE_EXTRA_CA_CERTS: file } })
    assert.equal(count, tls.rootCertificates.length + 1)
    assertSameCertificate(last, tls.rootCertificates[0])
  })

  it('does without a file that cannot be read', () => {
    const same = run(
      'return defaultRoots().length === tls.rootCertificates.length',
      { env: { NODE_EXTRA_CA_CERTS: '/nonexistent' }, stdio: 'ignore' })
    assert.equal(same, true)
  })

  it('notices tls.setDefaultCACertificates', function () {
    if (typeof tls.setDefaultCACertificates !== 'function') {
      // Not in this version of node: nothing to notice.
      assert.equal(tls.getCACertificates, undefined)
      return
    }
    const [changed, count] = run(`
      const before = defaultRoots()
      tls.setDefaultCACertificates([tls.rootCertificates[0]])
      return [before !== defaultRoots(), defaultRoots().length]`)
    assert.equal(changed, true)
    assert.equal(count, 1)
  })

  const OPENSSL_CA = `
    const { fields, usesDefaultRoots } = flattenContextOptions({})
    return [usesDefaultRoots, fields.filter((field, i) => i % 3 === 0)
      .includes(OPTION.OPENSSL_CA)]`

  it('gives way to the paths of OpenSSL with --use-openssl-ca', () => {
    for (const options of [
      { args: ['--use-openssl-ca'] },
      { args: ['--use_openssl_ca'] },
      { env: { NODE_OPTIONS: '--use-openssl-ca' } },
      { env: { NODE_OPTIONS: '--no-warnings --use-openssl-ca' } }
    ]) {
      assert.deepEqual(run(OPENSSL_CA, options), [false, true],
        inspect(options))
    }
    assert.deepEqual(run(OPENSSL_CA), [true, false])
  })

  it('completes the paths of OpenSSL with NODE_EXTRA_CA_CERTS', () => {
    const file = path.join(directory, 'more.pem')
    fs.writeFileSync(file, tls.rootCertificates[1])
    const [pem] = run(`
      const { fields } = flattenContextOptions({})
      return [fields[fields.indexOf(OPTION.CA) + 1]]`,
    { args: ['--use-openssl-ca'], env: { NODE_EXTRA_CA_CERTS: file } })
    assertSameCertificate(pem, tls.rootCertificates[1])
  })

  it('knows --use-openssl-ca in a worker with arguments of its own', () => {
    const file = path.join(directory, 'main.js')
    fs.writeFileSync(file, `
      const { Worker } = require('node:worker_threads')
      new Worker(\`
        const { flattenContextOptions } =
          require(${JSON.stringify(`${LIB}/options`)})
        require('node:worker_threads').parentPort.postMessage(
          flattenContextOptions({}).usesDefaultRoots)
      \`, { eval: true, execArgv: [] })
        .on('message', (usesDefaultRoots) => console.log(usesDefaultRoots))`)
    const env = { ...process.env }
    delete env.NODE_OPTIONS
    const output = execFileSync(process.execPath, ['--use-openssl-ca', file],
      { env })
    assert.equal(output.toString().trim(),
      process.platform === 'linux' ? 'false' : 'true')
  })
})
