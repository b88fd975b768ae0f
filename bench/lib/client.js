'use strict'

/**
 * One contender in one case, a process of its own:
 *
 *   node client.js '<settings>'
 *
 * settings: { case, variant, contender, ports }. Each line of JSON on standard
 * input, { count }, is one round; its samples go out as one line of JSON.
 */

const readline = require('node:readline')
const { contenders } = require('./contenders')
const { loadCase } = require('./cases')
const { readPki } = require('./pki')
const { createOpen } = require('./sockets')

function prepare (settings) {
  const { ports } = settings
  const contender = contenders[settings.contender]
  const benchmark = loadCase(settings.case)
  const variant = { ...benchmark.variants?.[settings.variant] }
  const plain = contender.plain === true
  const wants = { ...benchmark.wants, ...variant }
  const resume = wants.resume === true && contender.resumes
  const tls = { ca: readPki('ca.crt'), servername: 'localhost' }
  if (wants.mtls) {
    tls.cert = readPki('client.crt')
    tls.key = readPki('client.key')
  }
  const upgrade = contender.make({ tls, resume, singleUse: wants.singleUse })
  const warm = { done: false }
  const open = createOpen({
    port: plain ? ports.plain : wants.mtls ? ports.mtls : ports.tls,
    plain,
    resume,
    warm
  }, upgrade)
  return { benchmark, bench: { open, variant: wants, contender: settings.contender, warm } }
}

async function main () {
  const { benchmark, bench } = prepare(JSON.parse(process.argv[2]))
  for await (const line of readline.createInterface({ input: process.stdin })) {
    const { count } = JSON.parse(line)
    if (!bench.warm.done) {
      await benchmark.warmUp(bench, count)
      bench.warm.done = true
    }
    say(await benchmark.round(bench, count))
  }
}

function say (message) {
  process.stdout.write(JSON.stringify(message) + '\n')
}

main().then(() => process.exit(), (error) => {
  say({ error: error.stack })
  process.exit(1)
})
