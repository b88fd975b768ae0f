'use strict'

/**
 * One contender of the leak benchmark, a process of its own:
 *
 *   node leak-client.js '<settings>'
 *
 * settings: { contender, target, starttls, driver, echo }. Each line { count }
 * on standard input asks for so many cycles; the answer is one sample of what
 * the process holds after them.
 */

const fs = require('node:fs')
const net = require('node:net')
const readline = require('node:readline')
const { preludes } = require('./client-preludes')
const { drivers } = require('./drivers')
const { contenders, throughDriver } = require('./leak-contenders')
const { close, pingPong } = require('./sockets')

function connected ({ host, port }) {
  return new Promise((resolve, reject) => {
    const socket = net.connect({ host, port, noDelay: true })
    socket.once('error', reject)
    socket.once('connect', () => resolve(socket))
  })
}

function secured (socket) {
  return new Promise((resolve, reject) => {
    socket.once('error', reject)
    socket.once('secureConnect', () => resolve(socket))
  })
}

/** Connects, speaks the prelude, upgrades, talks if it can, closes. */
function ownCycle ({ target, starttls, echo }, upgrade) {
  const prelude = preludes[starttls]
  const port = upgrade === null && prelude === null && target.plainPort
  const address = { host: target.host, port: port || target.port }
  return async () => {
    const raw = await connected(address)
    if (prelude !== null) await prelude(raw)
    const socket = upgrade === null ? raw : await secured(upgrade(raw))
    if (upgrade !== null && !target.insecure && !socket.authorized) {
      throw new Error(`not authorized: ${socket.authorizationError}`)
    }
    if (echo && (upgrade !== null || prelude === null)) await pingPong(socket)
    await close(socket)
  }
}

function prepare (settings) {
  const { target } = settings
  if (target.caFile) target.ca = fs.readFileSync(target.caFile)
  if (settings.driver) {
    const { counts } = throughDriver[settings.contender].setup()
    const cycle = drivers[settings.driver].load()
    return { counts, cycle: () => cycle(target) }
  }
  const options = {
    ca: target.ca,
    servername: target.servername,
    rejectUnauthorized: !target.insecure
  }
  const { upgrade, counts } = contenders[settings.contender].setup(options)
  return { counts, cycle: ownCycle(settings, upgrade) }
}

async function main () {
  const { counts, cycle } = prepare(JSON.parse(process.argv[2]))
  for await (const line of readline.createInterface({ input: process.stdin })) {
    const { count } = JSON.parse(line)
    for (let i = 0; i < count; i++) await cycle()
    const { rss, heapTotal, heapUsed, external } = process.memoryUsage()
    say({ rss, heapTotal, heapUsed, external, ...counts() })
  }
}

function say (message) {
  process.stdout.write(JSON.stringify(message) + '\n')
}

main().then(() => process.exit(), (error) => {
  say({ error: error.stack })
  process.exit(1)
})
