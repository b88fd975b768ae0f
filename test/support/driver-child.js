'use strict'

/**
 * The process that driver-process.js starts: it runs one driver as the job in
 * its argument says and writes what it saw to descriptor 3, at the very end.
 * Nothing here ends the process: it has to leave by itself.
 */

const { createHash, randomBytes } = require('node:crypto')
const fs = require('node:fs')

const job = JSON.parse(process.argv[2])
const eagerTls = require(job.package)
const driver = require(job.driver)

const sha256 = (bytes) => createHash('sha256').update(bytes).digest('hex')
const report = { connections: [], refusals: [] }

/** What an error says, and those it stands for. */
function textOf (error) {
  const seen = []
  for (let e = error; e instanceof Error && !seen.includes(e); e = e.cause ?? e.original) {
    seen.push(e)
  }
  return seen.flatMap((e) => [e, ...(e.errors ?? [])])
    .map((e) => `${e.code}: ${e.message}`).join('\n')
}

function counts () {
  const { connections, contexts, sessions, fallbacks } = eagerTls.stats()
  return {
    opened: connections.opened,
    fd: connections.fd,
    stream: connections.stream,
    contexts: contexts.created,
    resumed: sessions.resumed,
    fallbacks
  }
}

async function withClient (server, tls, use) {
  const client = await driver.open(server, tls, job)
  try {
    await use(client)
  } finally {
    await driver.close(client)
  }
}

async function connection (index) {
  const before = counts()
  const seen = {}
  await withClient(job.server, job.tls, async (client) => {
    seen.answer = await driver.answer(client, index)
    if (job.megabytes > 0 && index === 0) {
      const bytes = randomBytes(job.megabytes * 1_000_000)
      const { back, sum } = await driver.echo(client, bytes)
      seen.echo = {
        sent: sha256(bytes),
        back: back === undefined ? null : sha256(back),
        server: sum ?? null
      }
    }
  })
  const after = counts()
  for (const name of Object.keys(after)) seen[name] = after[name] - before[name]
  report.connections.push(seen)
}

async function refusal ({ host, tls }) {
  const server = { ...job.server, ...(host && { host }) }
  try {
    await withClient(server, tls, (client) => driver.answer(client, 0))
    report.refusals.push('not refused')
  } catch (error) {
    report.refusals.push(textOf(error))
  }
}

/** For drivers that forget their TLS sockets instead of closing them. */
async function collect () {
  for (let i = 0; i < 50 && eagerTls.stats().connections.live > 0; i++) {
    global.gc()
    await new Promise(setImmediate)
  }
}

async function main () {
  for (let i = 0; i < job.connections; i++) await connection(i)
  for (const tls of job.refusals) await refusal(tls)
  if (job.collect) await collect()
  if (job.extra) report.extra = await driver[job.extra](job.server, job.tls, job)
}

process.on('exit', () => {
  const stats = eagerTls.stats()
  report.backend = stats.backend
  report.live = stats.connections.live
  report.fallbacks = stats.fallbacks
  report.resumed = stats.sessions.resumed
  fs.writeSync(3, JSON.stringify(report))
})

main().catch((error) => {
  report.error = `${error.stack}\n${textOf(error)}`
  process.exitCode = 1
})
