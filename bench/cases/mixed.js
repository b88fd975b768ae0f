'use strict'

const { measure } = require('../lib/measure')
const { pattern, patternDigest } = require('../lib/pattern')
const { close, exchange, parallel, pingPong } = require('../lib/sockets')
const { watchStalls } = require('../lib/stalls')

const LANES = 100
const DOWN = 64 * 1024
const UP = 16 * 1024

async function download (socket) {
  const data = await exchange(socket, `d${DOWN}\n`, DOWN)
  if (!data.equals(pattern.subarray(0, DOWN))) throw new Error('the data differs')
}

const request = Buffer.concat([
  Buffer.from(`u${UP}\n`), pattern.subarray(0, UP)
])
const digest = patternDigest(UP)

async function upload (socket) {
  const answer = await exchange(socket, request, digest.length)
  if (answer.toString() !== digest) {
    throw new Error('what arrived is not what was sent')
  }
}

const works = [pingPong, download, pingPong, upload]

async function round (bench, count) {
  const sockets = []
  const stop = watchStalls()
  const { cpu, wall } = await measure(async () => {
    await parallel(count, LANES, async (i) => {
      sockets[i] = await bench.open()
      await pingPong(sockets[i])
    })
    // All at once: who has work does it while all the others have theirs.
    await parallel(count, count, async (i) => {
      for (let k = 0; k < works.length; k++) {
        await works[(i + k) % works.length](sockets[i])
      }
    })
    await parallel(count, LANES, (i) => close(sockets[i]))
  })
  const { worst } = stop()
  return { cpu: cpu / count, wall: wall / 1000, worst }
}

module.exports = {
  title: '1,000 connections at once that upgrade, ask, receive, send and close',
  metrics: {
    cpu: ['client CPU per connection', 'µs'],
    wall: ['in all', 'ms'],
    worst: ['longest stall of the event loop', 'ms']
  },
  contenders: [
    'node-own', 'node-shared', 'node-shared-sessions', 'eager-fd',
    'eager-stream', 'eager-node', 'bun'
  ],
  count: 1000,
  smoke: 20,
  wants: { resume: true },
  async warmUp (bench, count) {
    const socket = await bench.open()
    await pingPong(socket)
    await close(socket)
    await round(bench, Math.ceil(count / 4))
  },
  round
}
