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
