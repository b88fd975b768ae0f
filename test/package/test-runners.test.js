'use strict'

const assert = require('node:assert/strict')
const path = require('node:path')

const certs = require('../support/certs')
const { usePeers } = require('../support/peers')
const { sharedProject } = require('./support/project')
const { tool } = require('./support/tools')

describe('in a test runner', function () {
  this.timeout(240_000)
  const peers = usePeers()
  let project
  before(async () => { project = await sharedProject() })

  /** Runs the fixture's tests in its directory; all output of theirs. */
  async function runIn (name, args, backend) {
    const { port } = await peers.tlsServer(certs.server)
    const { status, signal, stdout, stderr } = await project.node(args, {
      cwd: path.join(project.dir, name),
      env: {
        BACKEND: backend,
        CA_FILE: certs.file('ca.crt'),
        EAGER_TLS_BACKEND: backend,
        NO_COLOR: '1',
        PORT: String(port)
      }
    })
    const output = stdout + stderr
    assert.equal(status, 0, `${signal} ${output}`)
    assert.doesNotMatch(output, /EAGER_TLS_FALLBACK/)
    return output
  }

  const pools = {
    native: ['forks', 'threads', 'vmForks', 'vmThreads'],
    // Which is no other code in another pool.
    node: ['vmThreads']
  }
  for (const backend of Object.keys(pools)) {
    describe(`on the ${backend} backend`, () => {
      const jestWays = { 'in one process': ['--runInBand'], 'in workers': ['--maxWorkers=2'] }
      for (const [way, flags] of Object.entries(jestWays)) {
        it(`Jest, ${way}`, async () => {
          const output = await runIn('jest',
            [tool('jest', 'bin', 'jest.js'), ...flags], backend)
          assert.match(output, /^Tests: +8 passed, 8 total$/m)
        })
      }

      for (const pool of pools[backend]) {
        it(`vitest, with its pool ${pool}`, async () => {
          const output = await runIn('vitest',
            [tool('vitest', 'vitest.mjs'), 'run', `--pool=${pool}`], backend)
          assert.match(output, /^ +Tests +6 passed \(6\)$/m)
        })
      }
    })
  }
})
