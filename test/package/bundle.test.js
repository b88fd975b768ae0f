'use strict'

const assert = require('node:assert/strict')
const fs = require('node:fs')
const path = require('node:path')

const certs = require('../support/certs')
const { usePeers } = require('../support/peers')
const { sharedProject } = require('./support/project')
const { mustRun } = require('./support/run')
const { tool } = require('./support/tools')

const ANSWERS = ['true: line 0', 'true: line 1']

// A module has no require(), which every CommonJS package in a bundle needs;
// nor has it a __dirname, by which this one finds its binary.
const REQUIRE = 'import { createRequire } from "node:module";' +
  'const require = createRequire(import.meta.url);'
const DIRNAME = 'import { dirname } from "node:path";' +
  'import { fileURLToPath } from "node:url";' +
  'const __dirname = dirname(fileURLToPath(import.meta.url));'

const formats = {
  cjs: ['app.js', '.js', []],
  esm: ['app.mjs', '.mjs', [`--banner:js=${REQUIRE}${DIRNAME}`]]
}

const ADVICE = 'The binary is not where it was installed: when bundling, leave ' +
  'eager-tls out of the bundle or put its prebuilds/ beside it.'

describe('bundled by esbuild', function () {
  this.timeout(240_000)
  const peers = usePeers()
  let project
  before(async () => { project = await sharedProject() })

  /** Bundles an application into a directory of the project. */
  async function bundle (format, name, flags = []) {
    const [entry, extension, always] = formats[format]
    const output = path.join(project.dir, name, `bundle${extension}`)
    const { stderr } = await mustRun([tool('.bin', 'esbuild'), entry, '--bundle',
      '--platform=node', `--format=${format}`, '--log-level=warning',
      `--outfile=${output}`, ...always, ...flags], { cwd: project.dir })
    assert.equal(stderr, '')
    return output
  }

  /** A bundle where nothing of the project is near. */
  async function moved (format, name) {
    const output = await bundle(format, `${name}-${format}`)
    const far = path.join(project.dir, '..', `${name}-${format}-far`)
    fs.cpSync(path.dirname(output), far, { recursive: true })
    return path.join(far, path.basename(output))
  }

  async function run (file) {
    const { port } = await peers.tlsServer(certs.server)
    const { status, stdout, stderr } = await project.node(
      [file, String(port), certs.file('ca.crt')], { cwd: path.dirname(file) })
    assert.equal(status, 0, stderr)
    const { answers, backend, reason } = JSON.parse(stdout)
    assert.deepEqual(answers, ANSWERS)
    return { backend, reason, stderr }
  }

  const native = { backend: 'native', reason: null, stderr: '' }

  for (const format of Object.keys(formats)) {
    describe(`as ${format}`, () => {
      it('is native where the package is left out of the bundle', async () => {
        assert.deepEqual(await run(await bundle(format, `external-${format}`,
          ['--external:eager-tls'])), native)
      })

      it('is native in a bundle beside node_modules', async () => {
        assert.deepEqual(
          await run(await bundle(format, `inside-${format}`)), native)
        assert.deepEqual(await run(await bundle(format, `small-${format}`,
          ['--external:*.node', '--minify'])), native)
      })

      it('is native in a bundle with the binaries beside it', async () => {
        const file = await moved(format, 'with')
        fs.cpSync(path.join(project.installed, 'prebuilds'),
          path.join(path.dirname(file), 'prebuilds'), { recursive: true })
        assert.deepEqual(await run(file), native)
      })

      it('says what to do in a bundle without them', async () => {
        const { backend, reason, stderr } = await run(await moved(format, 'without'))
        assert.equal(backend, 'node')
        assert.equal(reason, ADVICE)
        assert.match(stderr, /\[EAGER_TLS_FALLBACK\] Warning: .*when bundling/)
      })
    })
  }

  it('says what to do in a module without __dirname', async () => {
    const file = await bundle('esm', 'bare-esm', [`--banner:js=${REQUIRE}`])
    assert.equal((await run(file)).reason, ADVICE)
  })
})
