'use strict'

/**
 * A process that stops at some step in the life of a connection: its status is
 * the one that it wanted, and what was written before has been sent.
 */

const assert = require('node:assert')
const { spawn } = require('node:child_process')
const path = require('node:path')

const certs = require('../support/certs')
const { usePeers } = require('../support/peers')
const { eachSubject } = require('../support/subjects')

const major = Number(process.versions.node.split('.')[0])
const CHILD = path.join(__dirname, '../support/stop-child.js')

const steps = ['now', 'handshake', 'keylog', 'checkServerIdentity', 'secure',
  'secureConnect', 'session', 'tick', 'turn', 'write callback', 'data', 'end',
  'finish', 'close', 'raw close', 'error', 'pskCallback']

/** Resolves with how the child ended: [status, signal, stderr]. */
function runChild (job) {
  const child = spawn(process.execPath, [CHILD, JSON.stringify(job)], {
    stdio: ['ignore', 'inherit', 'pipe']
  })
  let stderr = ''
  child.stderr.setEncoding('utf8').on('data', (text) => { stderr += text })
  return new Promise((resolve, reject) => {
    child.on('error', reject)
    child.on('close', (status, signal) => resolve({ status, signal, stderr }))
  })
}

describe('a process that stops', () => {
  const peers = usePeers()

  eachSubject((subject) => {
    const jobFor = (server, step, how) => ({
      port: server.port,
      subject: subject.kind,
      transport: subject.transport,
      ca: String(certs.ca),
      step,
      how
    })

    if (subject.native) {
      for (const step of steps) {
        it(`by exit() in ${step} has the status that it wants`, async () => {
          const server = await peers.tlsServer(certs.server)
          const { status, signal, stderr } =
            await runChild(jobFor(server, step, 'exit'))
          assert.deepStrictEqual({ status, signal, stderr },
            { status: 7, signal: null, stderr: '' })
        })
      }
      for (const step of steps) {
        // There the connection fails with it, as in node.
        if (['checkServerIdentity', 'pskCallback'].includes(step)) continue
        it(`by an exception in ${step} has status 1`, async () => {
          const server = await peers.tlsServer(certs.server)
          const { status, signal, stderr } =
            await runChild(jobFor(server, step, 'throw'))
          assert.deepStrictEqual([status, signal], [1, null], step)
          assert.match(stderr, /Error: thrown on purpose/)
        })
      }
    }

    // In others node's streams may hold it back, behind an earlier write.
    const sending = ['turn', 'data']
    // Since 24 node holds that back, too.
    if (subject.native || major < 24) sending.push('secureConnect')
    if (subject.transport === 'fd') sending.push('tick', 'write callback')
    for (const step of sending) {
      it(`by exit() right after a write in ${step} has sent that`, async () => {
        const server = await peers.tlsServer(certs.server, (socket, peer) => {
          let all = ''
          socket.on('error', () => {})
          socket.on('data', (chunk) => {
            socket.write(chunk)
            all += chunk
            if (all.endsWith('bye')) peer.report('bye')
          })
        })
        const [{ status }, said] = await Promise.all([
          runChild(jobFor(server, step, 'write')), server.report()
        ])
        assert.deepStrictEqual([status, said], [7, 'bye'])
      })
    }
  })
})
