'use strict'

const assert = require('node:assert/strict')
const fs = require('node:fs')
const path = require('node:path')

const certs = require('../support/certs')
const { usePeers } = require('../support/peers')
const { root } = require('./support/packed')
const { makeProject, sharedProject } = require('./support/project')
const { run } = require('./support/run')

const major = Number(process.versions.node.split('.')[0])

// What fixtures/tour.js sees on every backend.
const tour = {
  wrongCa: 'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  wrongHost: 'ERR_TLS_CERT_ALTNAME_INVALID',
  badOption: 'ERR_INVALID_ARG_TYPE',
  badTransport: 'ERR_INVALID_ARG_VALUE',
  echo: ['line 0', 'line 1', 'line 2'],
  singleUse: [1, 0],
  shared: 'closed context',
  closed: 'ERR_EAGER_TLS_CONTEXT_CLOSED',
  left: [0, 0, 0],
  shape: [
    'backend: string',
    'openssl: string',
    'contexts: live,cached,singleUse,created,hits,misses,evicted',
    'connections: live,opened,handshaking,fd,stream',
    'sessions: stored,peers,offered,resumed,rejected',
    'offload: tasks,inFlight',
    'fallbacks: number'
  ],
  resumed: true
}

/** The binary with one function that nobody exports. */
function loseSymbol (binary) {
  const text = fs.readFileSync(binary, 'latin1')
  const changed = text.replace('\0SSL_CTX_new\0', '\0SSL_CTX_neu\0')
  assert.notEqual(changed, text)
  fs.writeFileSync(binary, changed, 'latin1')
}

/** Another machine's library. */
function changeMachine (binary) {
  const bytes = fs.readFileSync(binary)
  // e_machine: AArch64, or x86-64 if this is that.
  bytes.writeUInt16LE(bytes.readUInt16LE(18) === 183 ? 62 : 183, 18)
  fs.writeFileSync(binary, bytes)
}

const causes = {
  'a binary that lacks a symbol': {
    change: loseSymbol, reason: /cannot be loaded: .*SSL_CTX_neu/
  },
  'a binary of another machine': {
    change: changeMachine, reason: /cannot be loaded: /
  },
  'a binary cut short': {
    change: (binary) => fs.truncateSync(binary, 40),
    reason: /cannot be loaded: /
  },
  'no binary': { change: fs.unlinkSync, reason: /^No binary for / },
  '--no-addons': { flags: ['--no-addons'], reason: /cannot be loaded: .*disabled/ },
  'the permission model': {
    flags: [major < 24 ? '--experimental-permission' : '--permission',
      '--allow-fs-read=*', ...(major < 25 ? [] : ['--allow-net'])],
    reason: /cannot be loaded: .*disabled/,
    // node's own, about itself.
    others: /ExperimentalWarning: Permission/
  },
  'an old Node-API': {
    flags: ['-r', './old-napi.js'],
    reason: /^Node-API version 8 is needed, this runtime has 7\.$/
  }
}

describe('the fallback', function () {
  this.timeout(240_000)
  const peers = usePeers()
  let intact
  before(async () => { intact = await sharedProject() })

  async function address () {
    const { port } = await peers.tlsServer(certs.server)
    return [String(port), certs.file('ca.crt'), certs.file('other-ca.crt')]
  }

  /** What the one warning says, if there is no further line but a hint. */
  function readWarning (stderr, others = /$^/) {
    const lines = stderr.trim().split('\n').filter((line) =>
      !/^\(Use `.*--trace-warnings/.test(line) && !others.test(line))
    assert.equal(lines.length, 1, stderr)
    return lines[0].replace(/^.*\[EAGER_TLS_FALLBACK\] Warning: /, '')
  }

  function judge ({ status, signal, stdout, stderr }, { reason, others, ...more }) {
    assert.equal(status, 0, `${signal} ${stderr}`)
    const { backend, reason: given, ...seen } = JSON.parse(stdout)
    assert.equal(backend, 'node')
    assert.match(given, reason)
    assert.equal(readWarning(stderr, others),
      `eager-tls runs on node:tls, without its native core. ${given}`)
    assert.deepEqual(seen, { ...tour, ...more })
  }

  for (const [cause, { change, flags = [], ...expected }] of Object.entries(causes)) {
    it(`takes over with one warning: ${cause}`, async () => {
      const project = change === undefined
        ? intact
        : await makeProject({ install: ['--ignore-scripts'] })
      if (change !== undefined) change(project.binaries[0])
      judge(await project.node([...flags, 'tour.js', ...await address()]),
        expected)
      const refused = await project.node(
        [...flags, 'tour.js', ...await address()],
        { env: { EAGER_TLS_BACKEND: 'native' } })
      assert.notEqual(refused.status, 0)
      assert.match(refused.stderr, /EAGER_TLS_BACKEND=native, but there is no/)
    })
  }

  it('is not needed otherwise', async () => {
    for (const env of [{}, { EAGER_TLS_BACKEND: 'native' }]) {
      assert.deepEqual(await intact.json(['tour.js', ...await address()], { env }),
        { ...tour, backend: 'native', reason: null })
    }
  })

  it('says nothing to those who asked for it', async () => {
    assert.deepEqual(await intact.json(['tour.js', ...await address()],
      { env: { EAGER_TLS_BACKEND: 'node' } }),
    { ...tour, backend: 'node', reason: 'EAGER_TLS_BACKEND=node asks for it.' })
  })

  it('warns once, however often the package is loaded', async () => {
    const twice = 'require("eager-tls"); for (const name in require.cache) ' +
      'delete require.cache[name]; require("eager-tls/register")'
    const { status, stderr } =
      await intact.node(['--no-addons', '-e', twice])
    assert.equal(status, 0)
    assert.match(readWarning(stderr), /^eager-tls runs on node:tls/)
  })

  describe('on Bun', () => {
    let bun
    before(async function () {
      const got = await run(['bash', 'scripts/get-runtimes.sh', 'bun'], { cwd: root })
      if (got.status !== 0) {
        console.log(`Bun cannot be had here, skipped: ${got.stderr}`)
        this.skip()
      }
      bun = got.stdout.trim()
    })

    const reason = /^Bun does not carry OpenSSL\.$/

    it('takes over with one warning', async () => {
      // Sessions are kept where it is known what they stand for: on node.
      judge(await intact.node(['tour.js', ...await address()], { node: bun }),
        { reason, resumed: false })
    })

    it('serves those who know node:tls only', async () => {
      for (const app of ['unaware.js', 'unaware.mjs']) {
        const { status, stdout, stderr } = await intact.node(
          ['-r', 'eager-tls/register', app, ...(await address()).slice(0, 2)],
          { node: bun })
        assert.equal(status, 0, stderr)
        const { answers, opened } = JSON.parse(stdout)
        assert.deepEqual(answers, ['true: line 0', 'true: line 1'])
        assert.equal(opened, 2)
        assert.match(readWarning(stderr), /Bun does not carry OpenSSL\.$/)
      }
    })

    it('has a doctor who says so', async () => {
      const doctor = path.join(intact.installed, 'bin', 'eager-tls.js')
      const { status, stdout } =
        await intact.node([doctor, 'doctor', '--json'], { node: bun })
      assert.equal(status, 1)
      assert.match(JSON.parse(stdout).reason, reason)
    })
  })
})
