'use strict'

// The POP3 drivers that know STLS do not work on the node versions of today:
// this one is what an application would write.

const { once } = require('node:events')
const net = require('node:net')
const tls = require('node:tls')

/** Sends a line, if given one, and resolves with the line that is answered. */
async function ask (socket, line) {
  if (line !== undefined) socket.write(`${line}\r\n`)
  let answer = ''
  while (!answer.endsWith('\r\n')) {
    const [chunk] = await once(socket, 'data')
    answer += chunk
  }
  if (!answer.startsWith('+OK')) throw new Error(answer)
  return answer.trim()
}

module.exports = {
  async open ({ host, ports, user, password }, options) {
    const raw = net.connect(ports.POP3_PORT, '127.0.0.2')
    await ask(raw)
    await ask(raw, 'STLS')
    const socket = tls.connect({ socket: raw, host, ...options })
    await once(socket, 'secureConnect')
    await ask(socket, `USER ${user}`)
    await ask(socket, `PASS ${password}`)
    return socket
  },

  answer: (socket) => ask(socket, 'NOOP'),

  async close (socket) {
    await ask(socket, 'QUIT')
    socket.end()
    await once(socket, 'close')
  }
}
