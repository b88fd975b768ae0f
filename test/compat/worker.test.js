'use strict'

/** Threads that end while connections are open, or open in the handshake. */

const assert = require('node:assert')
const { execFile } = require('node:child_process')
const { once } = require('node:events')
const path = require('node:path')
const { setTimeout } = require('node:timers/promises')
const { promisify } = require('node:util')
const { Worker } = require('node:worker_threads')

const certs = require('../support/certs')
const { openSocketCount } = require('../support/open-sockets')
const { usePeers } = require('../support/peers')
const { connected, secured, take } = require('../support/sockets')
const { subjects } = require('../support/subjects')

const run = promisify(execFile)
const SCRIPT = path.join(__dirname, '../support/stop-child.js')
const steps = ['now', 'handshake', 'keylog', 'checkServerIdentity', 'secureConnect',
  'session', 'tick', 'write callback', 'data', 'end', 'close', 'pskCallback']

for (const subject of subjects().filter(({ native }) => native)) {
  describe(`a worker, with ${subject.name}`, () => {
    const peers = usePeers()

    const start = (server, job) => new Worker(SCRIPT, {
      workerData: {
        port: server.port,
        subject: subject.kind,
        transport: subject.transport,
        ca: String(certs.ca),
        ...job
      }
    })

    async function socketsBecome (expected) {
      for (let turn = 0; turn < 3000 && openSocketCount() !== expected; turn++) {
        await setTimeout(1)
      }
      assert.strictEqual(openSocketCount(), expected)
    }

    /** This thread is none the worse for it. */
    async function works (server) {
      const socket = await secured(subject.connect({
        socket: await connected(server), ca: certs.ca
      }))
      socket.write('ping')
      assert.strictEqual(String(await take(socket, 4)), 'ping')
      socket.destroy()
    }

    for (const step of steps) {
      it(`terminated in ${step}, among twenty handshakes, leaves no descriptor`, async () => {
        const server = await peers.tlsServer(certs.server)
        const before = openSocketCount()
        const worker = start(server, { step, how: 'stay', others: 20 })
        await once(worker, 'message')
        await worker.terminate()
        await socketsBecome(before)
        await works(server)
      })

      it(`that calls exit() in ${step} has the status that it wants`, async () => {
        const server = await peers.tlsServer(certs.server)
        const before = openSocketCount()
        const worker = start(server, { step, how: 'exit', others: 5 })
        const [status] = await once(worker, 'exit')
        assert.strictEqual(status, 7)
        await socketsBecome(before)
      })
    }

    it('is one of twenty, half of which are terminated', async () => {
      const server = await peers.tlsServer(certs.server)
      const before = openSocketCount()
      const workers = Array.from({ length: 20 }, (_, n) => start(server, {
        step: n % 2 === 0 ? 'data' : 'secureConnect',
        how: n % 2 === 0 ? 'exit' : 'stay',
        others: 3
      }))
      const statuses = await Promise.all(workers.map(async (worker, n) => {
        const exit = once(worker, 'exit')
        if (n % 2 === 1) {
          await once(worker, 'message')
          worker.terminate()
        }
        return (await exit)[0]
      }))
      assert.deepStrictEqual(statuses, statuses.map((_, n) => n % 2 === 0 ? 7 : 1))
      await socketsBecome(before)
      await works(server)
    })

    it('that calls exit() when its slab was given away does not wait for another', async () => {
      const server = await peers.tlsServer(certs.server, (socket, peer) => {
        const { Buffer } = peer.require('node:buffer')
        socket.on('error', () => {})
        socket.on('data', () => socket.end(Buffer.alloc(8_000_000)))
        socket.write('ready')
      })
      const worker = new Worker(`
        const net = require('node:net')
        const v8 = require('node:v8')
        const vm = require('node:vm')
        const { workerData } = require('node:worker_threads')
        const { connect } = require(workerData.root)
        v8.setFlagsFromString('--allow-natives-syntax')
        const detach = new vm.Script('(ab) => %ArrayBufferDetach(ab)')
          .runInThisContext()
        const { ca, port, transport } = workerData
        const raw = net.connect(port, '127.0.0.1', () => {
          const socket = connect({ socket: raw, ca, transport })
          socket.once('data', () => {
            socket.write('more')
            socket.on('data', onData)
          })
          socket.on('end', () => process.exit(7))
        })
        // The last slice of a slab comes when there is another already.
        function onData ({ buffer, byteOffset, length }) {
          if (length <= 8192 || byteOffset + length > 49152) return
          try {
            detach(buffer)
          } catch {} // since 24 nobody can
          process.exit(7)
        }
      `, {
        eval: true,
        workerData: {
          ca: String(certs.ca),
          port: server.port,
          root: path.join(__dirname, '../..'),
          transport: subject.transport
        }
      })
      assert.deepStrictEqual(await once(worker, 'exit'), [7])
    })

    it('that ends leaves the library in memory, for OpenSSL knows it', async function () {
      if (process.platform !== 'linux') return this.skip() // no /proc
      const { stdout } = await run(process.execPath, ['-e', `
        const { Worker } = require('node:worker_threads')
        const code = 'require(' + ${JSON.stringify(JSON.stringify(path.join(__dirname, '../..')))} + ').createSecureContext().close()'
        const loaded = () => /eager[-_]tls[^/]*\\.node$/m.test(
          require('node:fs').readFileSync('/proc/self/maps', 'latin1'))
        console.log(loaded())
        new Worker(code, { eval: true }).on('exit', () => console.log(loaded()))
      `])
      assert.strictEqual(stdout, 'false\ntrue\n')
    })
  })
}
