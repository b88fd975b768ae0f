'use strict'

const fs = require('node:fs')
const path = require('node:path')
const Pop3Command = require('node-pop3')

// POP3 cannot send mail: the message is put where the server finds it.
function deliver (server, body) {
  const file = path.join(server.dir, 'dovecot', 'mail', server.user, 'new',
    `${Date.now()}.${process.pid}.localhost`)
  fs.writeFileSync(file, `Subject: test\n\n${body}\n`, { mode: 0o644 })
}

/** Logs in with the first command. */
function createClient (server, tlsOptions) {
  const { host, user, password, ports } = server
  return new Pop3Command({
    host, port: ports.POP3S_PORT, tls: true, user, password, tlsOptions
  })
}

/** What the first message in the mailbox has below its head. */
async function takeFirst (server, tlsOptions) {
  const client = createClient(server, tlsOptions)
  const text = await client.RETR(1)
  await client.command('DELE', 1)
  await client.QUIT()
  return text.slice(text.indexOf('\r\n\r\n') + 4).trim()
}

module.exports = {
  // The first login makes the mailbox.
  async open (server, tlsOptions) {
    const client = createClient(server, tlsOptions)
    await client.UIDL()
    return { client, server, tlsOptions }
  },

  async answer ({ server, tlsOptions }) {
    deliver(server, 'six times seven')
    return takeFirst(server, tlsOptions)
  },

  /** As base64 in lines: mail is text. One way only. */
  async echo ({ server, tlsOptions }, bytes) {
    deliver(server, bytes.toString('base64').replace(/.{76}/g, '$&\n'))
    const text = await takeFirst(server, tlsOptions)
    return { back: Buffer.from(text, 'base64') }
  },

  close: ({ client }) => client.QUIT()
}
