'use strict'

const { setTimeout: delay } = require('node:timers/promises')
const { measure } = require('../lib/measure')
const { close, parallel, pingPong } = require('../lib/sockets')
const { watchStalls } = require('../lib/stalls')

// What is going on before and after, so that the first and the last stall are
// between two looks at the clock.
const MARGIN = 30

async function round (bench, count) {
  const sockets = []
  const stop = watchStalls()
  await delay(MARGIN)
  const { cpu, wall } = await measure(() => parallel(count, count, async () => {
    const socket = await bench.open()
    await pingPong(socket)
    sockets.push(socket)
  }))
  await delay(MARGIN)
  const { worst, p99 } = stop()
  await parallel(count, count, (i) => close(sockets[i]))
  return { wall: wall / 1000, worst, p99, cpu: cpu / count }
}

module.exports = {
  title: '300 upgrades at once',
  metrics: {
    wall: ['until all are secure and answered', 'ms'],
    worst: ['longest stall of the event loop', 'ms'],
    p99: ['stalls, 99th percentile', 'ms'],
    cpu: ['client CPU per upgrade', 'µs']
  },
  contenders: [
    'node-own', 'node-shared', 'node-shared-sessions', 'eager-fd',
    'eager-stream', 'eager-node', 'bun'
  ],
  count: 300,
  smoke: 10,
  variants: {
    full: { resume: false },
    resumed: { resume: true }
  },
  async warmUp (bench, count) {
    const socket = await bench.open()
    await pingPong(socket)
    await close(socket)
    await round(bench, Math.ceil(count / 3))
  },
  round
}
