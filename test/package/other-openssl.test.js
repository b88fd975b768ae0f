'use strict'

const assert = require('node:assert/strict')
const fs = require('node:fs')
const path = require('node:path')

const certs = require('../support/certs')
const { usePeers } = require('../support/peers')
const { sharedProject } = require('./support/project')
const { mustRun } = require('./support/run')
const { tool } = require('./support/tools')

const SOURCE = path.join(__dirname, 'addon', 'own-openssl.c')
const { include_dir: NODE_API } = require('node-api-headers')

// How the addon keeps its OpenSSL to itself.
const addons = {
  'hides it': ['-Wl,-Bsymbolic', '-Wl,--exclude-libs,ALL'],
  'exports it, and uses it itself': ['-Wl,-Bsymbolic'],
  'exports it, and leaves it to the linker': []
}

describe('next to another addon with an OpenSSL of its own', function () {
  this.timeout(240_000)
  const peers = usePeers()
  let project
  before(async () => { project = await sharedProject() })

  async function address () {
    const { port } = await peers.tlsServer(certs.server)
    return [String(port), certs.file('ca.crt')]
  }

  for (const [how, flags] of Object.entries(addons)) {
    describe(`which ${how}`, () => {
      let addon
      before(async () => {
        addon = path.join(project.dir, `${how.replaceAll(/\W/g, '-')}.node`)
        await mustRun(['cc', '-shared', '-fPIC', '-O1', `-I${NODE_API}`, ...flags,
          SOURCE, '-o', addon, '-l:libssl.a', '-l:libcrypto.a'])
      })

      for (const order of ['first', 'last', 'global']) {
        it(`works, and binds to node's (the addon ${order})`, async () => {
          const log = path.join(project.dir, 'bindings')
          const { answers, backend, opened } = await project.json(
            ['other-openssl.js', addon, order, ...await address()],
            { env: { LD_DEBUG: 'bindings', LD_DEBUG_OUTPUT: log } })
          assert.equal(backend, 'native')
          assert.equal(opened, 5)
          assert.equal(answers.length, 10)
          for (let i = 0; i < 10; i += 2) {
            assert.equal(answers[i], 'true: line 0')
            assert.match(answers[i + 1], /^OPENSSLDIR: /)
          }
          const libraries = takeBindings(log, project.binaries[0])
          assert.ok(libraries.has(fs.realpathSync(process.execPath)))
          assert.equal(libraries.size, 1, [...libraries].join())
        })
      }
    })
  }

  /** Which libraries the binary has its OpenSSL from, by the linker's log. */
  function takeBindings (log, binary) {
    const libraries = new Set()
    const dir = path.dirname(log)
    for (const name of fs.readdirSync(dir)) {
      if (!name.startsWith(`${path.basename(log)}.`)) continue
      const file = path.join(dir, name)
      for (const line of fs.readFileSync(file, 'utf8').split('\n')) {
        const [, from, to] = /binding file (\S+) \[0\] to (\S+) \[0\]: normal symbol `(?:SSL|X509|EVP|BIO|ERR)_/
          .exec(line) ?? []
        if (from === binary) libraries.add(fs.realpathSync(which(to)))
      }
      fs.unlinkSync(file)
    }
    return libraries
  }

  /** The linker's name of the executable is that of the command line. */
  function which (name) {
    return path.isAbsolute(name) ? name : process.execPath
  }

  // OpenSSL 1.1.1, linked statically; comes from npm as a binary.
  for (const order of ['first', 'last']) {
    it(`works while node-datachannel does (${order})`, async () => {
      const { answers, backend } = await project.json(['data-channel.js',
        tool('node-datachannel'), order, ...await address()])
      assert.deepEqual(answers,
        ['true: line 0', 'true: line 1', 20, 'echo of 19'])
      assert.equal(backend, 'native')
    })
  }
})
