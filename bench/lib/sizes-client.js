'use strict'

/**
 * Opens connections under the counting allocator and says what they hold:
 *
 *   node --expose-gc sizes-client.js '<settings>'
 *
 * settings: { contender, resume, ports, count, library, report }. The answer is
 * one line of JSON; the allocations are in the file `report`.
 */

const fs = require('node:fs')
const { setTimeout: delay } = require('node:timers/promises')
const { contenders } = require('./contenders')
const { countHeap, difference } = require('./heap-snapshot')
const { readPki } = require('./pki')
const { createOpen, close, parallel, pingPong } = require('./sockets')

const LANES = 10
const WARM = 30

async function settle () {
  for (let i = 0; i < 3; i++) {
    global.gc()
    await delay(50)
  }
}

async function openMany (open, count) {
  const sockets = []
  await parallel(count, LANES, async () => {
    const socket = await open()
    await pingPong(socket)
    sockets.push(socket)
  })
  return sockets
}

async function main () {
  const settings = JSON.parse(process.argv[2])
  const { contender, count, library, ports, report } = settings
  const { make, plain, resumes } = contenders[contender]
  const resume = settings.resume && resumes
  const upgrade = make({
    tls: { ca: readPki('ca.crt'), servername: 'localhost' }, resume
  })
  const warm = { done: false }
  const open = createOpen({
    port: plain ? ports.plain : ports.tls, plain, resume, warm
  }, upgrade)
  const allocator = { exports: {} }
  process.dlopen(allocator, library)

  for (const socket of await openMany(open, WARM)) await close(socket)
  warm.done = true
  await settle()
  const heapBefore = await countHeap()
  await settle()
  const before = process.memoryUsage()
  allocator.exports.mark()
  const sockets = await openMany(open, count)
  await settle()
  allocator.exports.report(report)
  const after = process.memoryUsage()
  const objects = difference(heapBefore, await countHeap())
  for (const socket of sockets) socket.destroy()
  return {
    maps: fs.readFileSync('/proc/self/maps', 'utf8'),
    heapUsed: (after.heapUsed - before.heapUsed) / count,
    external: (after.external - before.external) / count,
    objects: objects.slice(0, 40).map(([key, bytes]) => [key, bytes / count])
  }
}

main().then((answer) => {
  process.stdout.write(JSON.stringify(answer) + '\n')
  process.exit()
}, (error) => {
  process.stdout.write(JSON.stringify({ error: error.stack }) + '\n')
  process.exit(1)
})
