'use strict'

const assert = require('node:assert/strict')
const { spawnSync } = require('node:child_process')
const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const { pathToFileURL } = require('node:url')

const certs = require('../support/certs')

const ROOT = path.join(__dirname, '../..')
const REGISTER = path.join(ROOT, 'lib/register.js')
const INDEX = path.join(ROOT, 'lib/index.js')

const quote = JSON.stringify

/** Runs code in a process of its own and gives what it printed as JSON. */
function run (code, { args = [], module = false } = {}) {
  const type = module ? 'module' : 'commonjs'
  const { status, stdout, stderr } = spawnSync(process.execPath,
    [...args, `--input-type=${type}`, '-e', code], { encoding: 'utf8' })
  assert.equal(status, 0, stderr)
  assert.equal(stderr, '')
  return JSON.parse(stdout)
}

describe('eager-tls/register', () => {
  const CHECK = `
    const tls = require('node:tls')
    const eager = require(${quote(INDEX)})
    console.log(JSON.stringify([tls.connect === eager.connect,
      tls.createSecureContext === eager.createSecureContext]))`

  it('replaces both functions when it is required', () => {
    assert.deepEqual(run(`require(${quote(REGISTER)})\n${CHECK}`),
      [true, true])
    assert.deepEqual(run(CHECK), [false, false])
  })

  it('works with -r and with --import', () => {
    assert.deepEqual(run(CHECK, { args: ['-r', REGISTER] }), [true, true])
    assert.deepEqual(
      run(CHECK, { args: ['--import', pathToFileURL(REGISTER).href] }),
      [true, true])
  })

  it('reaches names of ESM that were imported before', () => {
    assert.deepEqual(run(`
      import { connect, createSecureContext } from 'node:tls'
      import * as namespace from 'tls'
      import fallback from 'tls'
      import { createRequire } from 'node:module'
      const before = connect
      const register = await import(${quote(pathToFileURL(REGISTER).href)})
      const eager = createRequire(import.meta.url)(${quote(INDEX)})
      const seen = [connect === eager.connect,
        createSecureContext === eager.createSecureContext,
        namespace.connect === connect, fallback.connect === connect]
      register.restore()
      console.log(JSON.stringify([...seen, connect === before,
        namespace.connect === before]))`, { module: true }),
    [true, true, true, true, true, true])
  })

  it('puts the originals back, as often as it is asked to', () => {
    assert.deepEqual(run(`
      const tls = require('node:tls')
      const { connect, createSecureContext } = tls
      const keys = Reflect.ownKeys(tls)
      const { restore } = require(${quote(REGISTER)})
      restore()
      restore()
      console.log(JSON.stringify([tls.connect === connect,
        tls.createSecureContext === createSecureContext,
        require('node:util').isDeepStrictEqual(Reflect.ownKeys(tls), keys)]))`),
    [true, true, true])
  })

  it('leaves alone what somebody else has replaced since', () => {
    assert.deepEqual(run(`
      const tls = require('node:tls')
      const { createSecureContext } = tls
      const { restore } = require(${quote(REGISTER)})
      const other = () => {}
      tls.connect = other
      restore()
      console.log(JSON.stringify([tls.connect === other,
        tls.createSecureContext === createSecureContext]))`), [true, true])
  })

  it('adds nothing that can be enumerated', () => {
    assert.deepEqual(run(`
      const tls = require('node:tls')
      const keys = Object.keys(tls)
      require(${quote(REGISTER)})
      console.log(JSON.stringify(
        [require('node:util').isDeepStrictEqual(Object.keys(tls), keys)]))`),
    [true])
  })

  describe('loaded twice', () => {
    let directory
    before(() => {
      directory = fs.mkdtempSync(path.join(os.tmpdir(), 'eager-tls-twice-'))
      for (const name of ['lib', 'build', 'prebuilds', 'package.json',
        'node_modules/node-gyp-build']) {
        const from = path.join(ROOT, name)
        if (fs.existsSync(from)) {
          fs.cpSync(from, path.join(directory, name), { recursive: true })
        }
      }
    })
    after(() => fs.rmSync(directory, { recursive: true }))

    it('does nothing the second time', () => {
      assert.deepEqual(run(`
        const tls = require('node:tls')
        const original = tls.connect
        require(${quote(REGISTER)})
        const first = tls.connect
        for (const name of Object.keys(require.cache)) {
          delete require.cache[name]
        }
        const again = require(${quote(REGISTER)})
        const same = tls.connect === first
        again.restore()
        console.log(JSON.stringify([same, tls.connect === original]))`),
      [true, true])
    })

    it('from two copies keeps node\'s originals apart from ours', () => {
      const copy = path.join(directory, 'lib')
      assert.deepEqual(run(`
        const tls = require('node:tls')
        const original = tls.connect
        const one = require(${quote(REGISTER)})
        const first = tls.connect
        const two = require(${quote(path.join(copy, 'register.js'))})
        const { connect } = require(
          ${quote(path.join(copy, 'node-originals.js'))})
        const seen = [tls.connect === first, connect === original]
        two.restore()
        console.log(JSON.stringify([...seen, tls.connect === original]))`),
      [true, true, true])
    })
  })

  for (const EAGER_TLS_BACKEND of ['', 'node']) {
    const backend = EAGER_TLS_BACKEND || 'default'
    it(`carries https, http2 and servers (${backend} backend)`, () => {
      const { status, stdout, stderr } = spawnSync(process.execPath,
        ['-r', REGISTER, '-e', `
          const { once } = require('node:events')
          const http2 = require('node:http2')
          const https = require('node:https')
          const tls = require('node:tls')
          const eager = require(${quote(INDEX)})
          const options = {
            cert: ${quote(String(certs.server.cert))},
            key: ${quote(String(certs.server.key))},
            allowHTTP1: true
          }
          const ca = ${quote(String(certs.ca))}
          const server = http2.createSecureServer(options,
            (request, response) => response.end('answer'))
          server.listen(0, async () => {
            const { port } = server.address()
            const texts = []
            for (let i = 0; i < 2; i++) {
              const request = https.get({ port, ca, host: 'localhost',
                agent: false })
              const [response] = await once(request, 'response')
              let text = ''
              for await (const chunk of response) text += chunk
              texts.push(text)
            }
            const session = http2.connect('https://localhost:' + port, { ca })
            const stream = session.request({ ':path': '/' })
            let text = ''
            for await (const chunk of stream) text += chunk
            texts.push(text)
            session.close()
            const socket = tls.connect({ port, host: 'localhost',
              secureContext: tls.createSecureContext({ ca }) })
            await once(socket, 'secureConnect')
            texts.push(socket.authorized)
            socket.destroy()
            await once(socket, 'close')
            server.close()
            const { connections } = eager.stats()
            console.log(JSON.stringify([...texts, connections.opened]))
          })`],
        {
          encoding: 'utf8',
          env: { ...process.env, EAGER_TLS_BACKEND }
        })
      assert.equal(status, 0, stderr)
      assert.equal(stderr, '')
      assert.deepEqual(JSON.parse(stdout),
        ['answer', 'answer', 'answer', true, 4])
    })
  }
})
