'use strict'

/**
 * One contender of the demo: `node demo-client.js eager-tls|node:tls PORT`.
 * Each line { count } on standard input asks for so many upgrades; the answer
 * says what there has been in all.
 */

const net = require('node:net')
const readline = require('node:readline')
const tls = require('node:tls')
const { preludes } = require('./client-preludes')
const { readPki } = require('./pki')
const { close, pingPong } = require('./sockets')

const [contender, port] = process.argv.slice(2)
const options = { ca: readPki('ca.crt'), servername: 'localhost' }
const facts = { upgrades: 0, resumed: 0, contexts: 0 }

/** node:tls tells nobody how many contexts it makes: count the calls. */
function useNode () {
  const { createSecureContext } = tls
  tls.createSecureContext = (...args) => {
    facts.contexts++
    return createSecureContext(...args)
  }
  facts.backend = 'node'
  return { connect: tls.connect, update () {} }
}

function useEager () {
  const { backend, connect, stats } = require('../..')
  facts.backend = backend
  return {
    connect,
    update () { facts.contexts = stats().contexts.created }
  }
}

function upgrade (connect, socket) {
  return new Promise((resolve, reject) => {
    const secure = connect({ ...options, socket })
    secure.once('error', reject)
    secure.once('secureConnect', () => resolve(secure))
  })
}

async function once (connect) {
  const raw = net.connect({ port, host: '127.0.0.1', noDelay: true })
  await preludes.smtp(raw)
  const socket = await upgrade(connect, raw)
  await pingPong(socket)
  facts.upgrades++
  if (socket.isSessionReused()) facts.resumed++
  facts.protocol = socket.getProtocol()
  facts.cipher = socket.getCipher().name
  await close(socket)
}

async function main () {
  const { connect, update } = contender === 'eager-tls' ? useEager() : useNode()
  facts.rssBefore = process.memoryUsage.rss()
  const start = process.cpuUsage()
  for await (const line of readline.createInterface({ input: process.stdin })) {
    const { count } = JSON.parse(line)
    for (let i = 0; i < count; i++) await once(connect)
    const { user, system } = process.cpuUsage(start)
    facts.cpu = user + system
    facts.rssAfter = process.memoryUsage.rss()
    update()
    say(facts)
  }
}

function say (message) {
  process.stdout.write(JSON.stringify(message) + '\n')
}

main().then(() => process.exit(), (error) => {
  say({ error: error.stack })
  process.exit(1)
})
