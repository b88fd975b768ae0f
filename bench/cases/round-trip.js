'use strict'

const { createHistogram } = require('node:perf_hooks')
const { measureEach } = require('../lib/measure')
const { close, pingPong } = require('../lib/sockets')

async function roundTrips (socket, count, latencies) {
  for (let i = 0; i < count; i++) {
    const start = process.hrtime.bigint()
    await pingPong(socket)
    latencies.record(process.hrtime.bigint() - start)
  }
}

async function round (bench, count) {
  const latencies = createHistogram()
  const socket = await bench.open()
  await roundTrips(socket, Math.ceil(count / 10), createHistogram())
  const cost = await measureEach(count, () =>
    roundTrips(socket, count, latencies))
  await close(socket)
  return {
    ...cost,
    p50: latencies.percentile(50) / 1000,
    p99: latencies.percentile(99) / 1000
  }
}

/** Long enough for V8 to have compiled it for good. */
async function warmUp (bench, count) {
  for (let i = 0; i < 3; i++) await round(bench, count)
}

module.exports = {
  title: 'Small request and response on an open connection',
  metrics: {
    cpu: ['client CPU per round trip', 'µs'],
    wall: ['time per round trip', 'µs'],
    p50: ['latency, median', 'µs'],
    p99: ['latency, 99th percentile', 'µs']
  },
  contenders: [
    'node-own', 'eager-fd', 'eager-stream', 'eager-node', 'bun', 'plain', 'floor'
  ],
  count: 10_000,
  smoke: 50,
  wants: { resume: false },
  floor: ['round-trip', 'full'],
  warmUp,
  round
}
