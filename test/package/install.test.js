'use strict'

const assert = require('node:assert/strict')
const fs = require('node:fs')
const path = require('node:path')

const certs = require('../support/certs')
const { usePeers } = require('../support/peers')
const { makeProject } = require('./support/project')

const native = {
  answers: ['true: line 0', 'true: line 1'],
  backend: 'native',
  reason: null,
  opened: 2,
  live: 0,
  contexts: 1,
  fallbacks: 0
}

describe('installed without a compiler', function () {
  this.timeout(240_000)
  const peers = usePeers()

  const ways = {
    'with install scripts': ['--foreground-scripts'],
    'with --ignore-scripts': ['--ignore-scripts']
  }
  for (const [way, install] of Object.entries(ways)) {
    describe(way, () => {
      let project
      before(async () => { project = await makeProject({ install }) })

      async function address () {
        const { port } = await peers.tlsServer(certs.server)
        return [String(port), certs.file('ca.crt')]
      }

      it('nothing was built', async () => {
        assert.equal(fs.existsSync(path.join(project.installed, 'build')), false)
        assert.doesNotMatch(project.output, /gyp|could not/)
        for (const tool of ['cc', 'gcc', 'clang', 'make', 'python3']) {
          const { status } = await project.run(['sh', '-c', `command -v ${tool}`])
          assert.notEqual(status, 0, tool)
        }
      })

      it('is native, and prints nothing', async () => {
        for (const app of ['app.js', 'app.mjs']) {
          assert.deepEqual(
            await project.json([app, ...await address()]), native)
        }
      })

      it('serves those who know node:tls only, by -r and by --import', async () => {
        for (const flag of ['-r', '--import']) {
          for (const app of ['unaware.js', 'unaware.mjs']) {
            assert.deepEqual(await project.json(
              [flag, 'eager-tls/register', app, ...await address()]), native)
          }
        }
        const { opened } =
          await project.json(['unaware.js', ...await address()])
        assert.equal(opened, 0)
      })

      it('has a doctor that finds it well', async () => {
        const words = await project.run(
          ['npx', '--offline', 'eager-tls', 'doctor'])
        assert.equal(words.status, 0)
        assert.equal(words.stderr, '')
        assert.match(words.stdout, /^backend +native$/m)
        const json = await project.run(
          ['npx', '--offline', 'eager-tls', 'doctor', '--json'])
        const { backend, file, prebuilds } = JSON.parse(json.stdout)
        assert.equal(json.status, 0)
        assert.equal(backend, 'native')
        assert.equal(file, project.binaries[0])
        assert.deepEqual(prebuilds, [`${process.platform}-${process.arch}`])
      })

      it('has a doctor that knows of the fallback', async () => {
        const { status, stdout } = await project.run(
          ['npx', '--offline', 'eager-tls', 'doctor'],
          { env: { EAGER_TLS_BACKEND: 'node' } })
        assert.equal(status, 1)
        assert.match(stdout, /^backend +node: EAGER_TLS_BACKEND=node/m)
        const wrong = await project.run(['npx', '--offline', 'eager-tls', 'cure'])
        assert.equal(wrong.status, 2)
      })
    })
  }
})

describe('installed where there is no binary for it', function () {
  this.timeout(240_000)
  const peers = usePeers()

  const withoutPrebuilds = (tree) =>
    fs.rmSync(path.join(tree, 'prebuilds'), { recursive: true })

  it('installs without a compiler, too, and runs on node:tls', async () => {
    const project = await makeProject({ change: withoutPrebuilds })
    const { port } = await peers.tlsServer(certs.server)
    const { status, stdout, stderr } =
      await project.node(['app.js', String(port), certs.file('ca.crt')])
    assert.equal(status, 0, stderr)
    const { answers, backend, reason } = JSON.parse(stdout)
    assert.deepEqual(answers, native.answers)
    assert.equal(backend, 'node')
    assert.match(reason, /^No binary for /)
    assert.match(stderr, /\[EAGER_TLS_FALLBACK\] Warning: .*No binary for /)
  })

  it('says so if a build was demanded', async () => {
    await assert.rejects(makeProject({
      change: withoutPrebuilds, install: ['--build-from-source']
    }), /the native core could not be built here\./)
  })

  it('is built where there is a compiler', async () => {
    const project = await makeProject({ change: withoutPrebuilds, tools: true })
    const { port } = await peers.tlsServer(certs.server)
    assert.deepEqual(await project.json(
      ['app.js', String(port), certs.file('ca.crt')]), native)
  })
})
