'use strict'

/**
 * The `proxy` kind of peer-child.js: a byte proxy in front of `options.port`.
 * `options.up` (client to server) and `options.down` (server to client) may say
 *   split     bytes per write; the writes are turns of the event loop apart
 *   coalesce  hold until so many bytes are there (or the sender has ended)
 *   delay     milliseconds before each segment goes on
 *   dropAt    bytes from this one on vanish
 *   cutAt     after this many bytes the connection is cut,
 *   cut       with 'fin' (default) or 'rst'; `to`: 'client', 'server' or 'both'
 *   hold      the bytes after `cutAt` vanish, and the cut waits for tell('cut').
 *             A reset that comes together with data looks like a FIN to libuv.
 *
 * `ask('segments')` answers { up: [lengths], down: [lengths] } of what was read,
 * `ask('bytes')` answers { up: Buffer, down: Buffer }, of the last connection.
 *
 * Events: 'ended' ({ from: 'client' | 'server', how: 'fin' | 'rst' }).
 */

const net = require('node:net')

module.exports = function proxyKind (options, handler, emit, control) {
  let last = { up: [], down: [] }
  const server = net.createServer({ allowHalfOpen: true })

  server.on('connection', (client) => {
    const upstream = net.connect({
      port: options.port,
      host: options.host ?? '127.0.0.1',
      allowHalfOpen: true
    })
    const seen = last = { up: [], down: [] }
    const ends = { client, server: upstream }
    for (const [from, socket] of Object.entries(ends)) {
      socket.setNoDelay(true)
      socket.once('end', () => emit('ended', { from, how: 'fin' }))
      socket.on('error', (error) => {
        if (error.code === 'ECONNRESET') emit('ended', { from, how: 'rst' })
      })
    }
    control.once('closing', () => upstream.destroy())
    control.once('cut', () => {
      for (const rule of [options.up, options.down]) {
        if (rule?.hold) cut(rule, ends)
      }
    })
    const up = carry(client, upstream, options.up ?? {}, seen.up, ends)
    const down = carry(upstream, client, options.down ?? {}, seen.down, ends)
    client.once('close', () => up.then(() => upstream.end()))
    upstream.once('close', () => down.then(() => client.end()))
  })

  return {
    server,
    ask (question) {
      const { up, down } = last
      switch (question) {
        case 'segments':
          return { up: up.map((b) => b.length), down: down.map((b) => b.length) }
        case 'bytes':
          return { up: Buffer.concat(up), down: Buffer.concat(down) }
        default:
          throw new Error(`a proxy cannot answer '${question}'`)
      }
    }
  }
}

// Resolves when the sender is gone and all that it sent has gone on.
function carry (from, to, rule, seen, ends) {
  let passed = 0
  let held = Buffer.alloc(0)
  let busy = Promise.resolve()

  const forward = async (chunk) => {
    if (rule.delay) await new Promise((resolve) => setTimeout(resolve, rule.delay))
    const room = Math.min(rule.cutAt ?? Infinity, rule.dropAt ?? Infinity) - passed
    const kept = chunk.subarray(0, Math.max(0, room))
    passed += kept.length
    const step = rule.split ?? kept.length
    for (let at = 0; at < kept.length; at += step) {
      if (to.destroyed) return
      to.write(kept.subarray(at, at + step))
      if (rule.split) await new Promise((resolve) => setImmediate(resolve))
    }
    if (passed >= rule.cutAt && !rule.hold) cut(rule, ends)
  }

  from.on('data', (chunk) => {
    seen.push(chunk)
    held = Buffer.concat([held, chunk])
    if (held.length < (rule.coalesce ?? 0)) return
    const whole = held
    held = Buffer.alloc(0)
    busy = busy.then(() => forward(whole))
  })
  if (rule.cutAt === 0) cut(rule, ends)
  return new Promise((resolve) => {
    from.on('end', () => {
      const rest = held
      busy = busy.then(() => forward(rest)).then(() => to.end())
    })
    from.on('close', () => busy.then(resolve))
  })
}

function cut (rule, ends) {
  const hit = rule.to === undefined || rule.to === 'both'
    ? Object.values(ends)
    : [ends[rule.to]]
  for (const socket of hit) {
    if (rule.cut === 'rst') socket.resetAndDestroy()
    else socket.end()
    socket.removeAllListeners('data')
    socket.resume()
  }
}
