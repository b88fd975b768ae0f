'use strict'

const { createHash } = require('node:crypto')
const { measure } = require('../lib/measure')
const { patternDigest } = require('../lib/pattern')
const { close } = require('../lib/sockets')

const MB = 1 << 20

function download (socket, bytes, onChunk) {
  return new Promise((resolve, reject) => {
    let left = bytes
    socket.once('error', reject)
    socket.on('data', function onData (chunk) {
      left -= chunk.length
      if (onChunk) onChunk(chunk)
      if (left > 0) return
      socket.removeListener('data', onData)
      if (left === 0) resolve()
      else reject(new Error(`${-left} bytes too many`))
    })
    socket.write(`d${bytes}\n`)
  })
}

/** The content is checked here; in the rounds only its length. */
async function warmUp (bench, megabytes) {
  const socket = await bench.open()
  const hash = createHash('sha256')
  const bytes = megabytes * MB
  await download(socket, bytes, (chunk) => hash.update(chunk))
  if (hash.digest('hex') !== patternDigest(bytes)) {
    throw new Error('the data differs')
  }
  await close(socket)
}

async function round (bench, megabytes) {
  const socket = await bench.open()
  const { cpu, wall } = await measure(() => download(socket, megabytes * MB))
  await close(socket)
  return { cpu: cpu / megabytes, wall: wall / megabytes }
}

module.exports = {
  title: 'Receiving bulk data',
  metrics: {
    cpu: ['client CPU per MB', 'µs'],
    wall: ['time per MB', 'µs']
  },
  contenders: [
    'node-own', 'eager-fd', 'eager-stream', 'eager-node', 'bun', 'plain', 'floor'
  ],
  count: 96,
  rounds: 15,
  smoke: 2,
  wants: { resume: false },
  floor: ['download', 'full'],
  warmUp,
  round
}
