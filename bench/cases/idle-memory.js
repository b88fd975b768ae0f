'use strict'

const { setTimeout: delay } = require('node:timers/promises')
const { close, parallel, pingPong } = require('../lib/sockets')

const LANES = 20
const MANY = 100

/** What is held, after everything that can be collected was. */
async function memory (count) {
  for (let i = 0; i < 3; i++) {
    if (typeof Bun === 'undefined') global.gc()
    else globalThis.Bun.gc(true)
    await delay(count < MANY ? 5 : 100)
  }
  const { rss, heapUsed, external } = process.memoryUsage()
  return { rss, heapUsed, external }
}

async function openMany (bench, count, sockets) {
  await parallel(count, LANES, async () => {
    const socket = await bench.open()
    await pingPong(socket)
    sockets.push(socket)
  })
}

/** A few connections: code is loaded and compiled, pools have their pages. */
async function warmUp (bench) {
  const sockets = []
  await openMany(bench, LANES, sockets)
  for (const socket of sockets) await close(socket)
}

async function round (bench, count) {
  const sockets = []
  const before = await memory(count)
  await openMany(bench, count, sockets)
  const after = await memory(count)
  for (const socket of sockets) await pingPong(socket)
  await parallel(count, LANES, (i) => close(sockets[i]))
  const each = (name) => (after[name] - before[name]) / count / 1024
  return {
    rss: each('rss'), heapUsed: each('heapUsed'), external: each('external')
  }
}

module.exports = {
  title: 'Memory of open connections that do nothing',
  metrics: {
    rss: ['RSS per connection', 'KB'],
    heapUsed: ['of it, JavaScript heap', 'KB'],
    external: ['memory that V8 knows of outside its heap', 'KB']
  },
  contenders: [
    'node-own', 'node-shared', 'node-shared-sessions', 'eager-fd',
    'eager-stream', 'eager-node', 'bun', 'plain'
  ],
  count: 2000,
  smoke: 20,
  fresh: true,
  nodeArgs: ['--expose-gc'],
  variants: {
    full: { resume: false },
    resumed: { resume: true }
  },
  warmUp,
  round
}
