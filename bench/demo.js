'use strict'

// The package's main job in small: a server that turns TLS on in the middle of
// a plaintext conversation, and a client that upgrades 200 sockets with the same
// options, with eager-tls and with node:tls, each in a process of its own.
//
//   npm run demo

const path = require('node:path')
const { Child, startServer } = require('./lib/child')
const { ensurePki } = require('./lib/pki')
const { createProgress } = require('./lib/progress')
const { formatTable } = require('./lib/table')

const UPGRADES = 200
const STEP = 10
const client = path.join(__dirname, 'lib', 'demo-client.js')

/** Runs one contender to the end; resolves with what it found. */
async function runContender (name, port) {
  const child = new Child([process.execPath, client, name, String(port)])
  const progress = createProgress(name.padEnd(9), UPGRADES)
  try {
    let answer
    for (let done = 0; done < UPGRADES; done += STEP) {
      answer = await child.ask({ count: STEP })
      progress.step('', STEP)
    }
    return answer
  } finally {
    progress.stop()
    await child.close()
  }
}

const megabytes = (bytes) => `${(bytes / 2 ** 20).toFixed(1)} MB`

// What the table says of a contender, line by line.
const lines = [
  ['protocol', (r) => r.protocol],
  ['cipher', (r) => r.cipher],
  ['backend', (r) => r.backend],
  ['upgrades, all verified', (r) => String(r.upgrades)],
  ['contexts created', (r) => String(r.contexts)],
  ['handshakes resumed', (r) => String(r.resumed)],
  ['client CPU per upgrade', (r) => `${(r.cpu / r.upgrades / 1000).toFixed(2)} ms`],
  ['RSS before', (r) => megabytes(r.rssBefore)],
  ['RSS after', (r) => megabytes(r.rssAfter)],
  ['RSS growth', (r) => megabytes(r.rssAfter - r.rssBefore)]
]

async function main () {
  ensurePki()
  const server = await startServer({ starttls: 'smtp' })
  try {
    console.log(`${UPGRADES} plaintext connections to a server on the loopback, ` +
      'each upgraded by STARTTLS with the same options\n')
    const results = [
      await runContender('eager-tls', server.ports.tls),
      await runContender('node:tls', server.ports.tls)
    ]
    console.log(formatTable([
      ['', 'eager-tls', 'node:tls'],
      ...lines.map(([label, show]) => [label, ...results.map(show)])
    ]))
  } finally {
    await server.close()
  }
}

main().catch((error) => {
  console.error(error.message)
  process.exitCode = 1
})
