'use strict'

const { once } = require('node:events')
const { promisify } = require('node:util')
const { buffer } = require('node:stream/consumers')
const Imap = require('imap')

const call = (client, method, ...args) =>
  promisify(client[method]).call(client, ...args)

/** The body of the last message, which is then deleted. */
async function takeLast (client) {
  const box = await call(client, 'openBox', 'INBOX', false)
  const fetch = client.seq.fetch(box.messages.total, { bodies: 'TEXT' })
  const bodies = []
  fetch.on('message', (message) => message.on('body', (stream) => {
    bodies.push(buffer(stream))
  }))
  await once(fetch, 'end')
  const [body] = await Promise.all(bodies)
  await promisify(client.seq.addFlags).call(client.seq, '1:*', 'Deleted')
  await call(client, 'closeBox', true)
  return body
}

const message = (subject, body) => `Subject: ${subject}\r\n\r\n${body}\r\n`

module.exports = {
  async open ({ host, port, user, password, ports, implicit }, tlsOptions) {
    const client = new Imap({
      host,
      port: implicit ? ports.IMAPS_PORT : port,
      tls: implicit === true,
      autotls: 'always',
      user,
      password,
      tlsOptions
    })
    client.connect()
    await once(client, 'ready')
    client.on('error', () => {})
    return client
  },

  async answer (client) {
    await call(client, 'append', message('answer', 'six times seven'),
      { mailbox: 'INBOX' })
    return String(await takeLast(client)).trim()
  },

  /** As base64 in lines: mail is text. */
  async echo (client, bytes) {
    const text = bytes.toString('base64').replace(/.{76}/g, '$&\r\n')
    await call(client, 'append', message('big', text), { mailbox: 'INBOX' })
    return { back: Buffer.from(String(await takeLast(client)), 'base64') }
  },

  async close (client) {
    const closed = once(client, 'close')
    client.end()
    await closed
  }
}
