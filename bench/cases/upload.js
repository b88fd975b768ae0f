'use strict'

const { measure } = require('../lib/measure')
const { pattern, patternDigest } = require('../lib/pattern')
const { close, exchange } = require('../lib/sockets')

const MB = pattern.length
const DIGEST_LENGTH = 64

/** Writes the pattern in pieces, as fast as the socket takes them. */
function send (socket, megabytes, size) {
  return new Promise((resolve) => {
    const bytes = megabytes * MB
    let sent = 0
    const fill = () => {
      while (sent < bytes) {
        const at = sent % MB
        sent += size
        if (!socket.write(pattern.subarray(at, at + size))) {
          socket.once('drain', fill)
          return
        }
      }
      resolve()
    }
    fill()
  })
}

async function upload (socket, megabytes, size) {
  const answer = exchange(socket, `u${megabytes * MB}\n`, DIGEST_LENGTH)
  await send(socket, megabytes, size)
  return (await answer).toString('latin1')
}

async function round (bench, megabytes) {
  const socket = await bench.open()
  let digest
  const { cpu, wall } = await measure(async () => {
    digest = await upload(socket, megabytes, bench.variant.size)
  })
  await close(socket)
  if (digest !== patternDigest(megabytes * MB)) {
    throw new Error('what arrived is not what was sent')
  }
  return { cpu: cpu / megabytes, wall: wall / megabytes }
}

module.exports = {
  title: 'Sending bulk data',
  metrics: {
    cpu: ['client CPU per MB', 'µs'],
    wall: ['time per MB', 'µs']
  },
  contenders: [
    'node-own', 'eager-fd', 'eager-stream', 'eager-node', 'bun', 'plain', 'floor'
  ],
  count: 64,
  rounds: 15,
  smoke: 2,
  variants: {
    '1 MB writes': { size: MB, floor: ['upload', 'full'] },
    '1 KB writes': { size: 1024, floor: ['upload-small', 'full'] }
  },
  wants: { resume: false },
  warmUp: (bench, megabytes) => round(bench, Math.ceil(megabytes / 4)),
  round
}
