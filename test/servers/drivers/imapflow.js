'use strict'

const { buffer } = require('node:stream/consumers')
const { ImapFlow } = require('imapflow')

const head = Buffer.from('Subject: big\r\n\r\n')

module.exports = {
  async open ({ host, port, user, password, ports, implicit }, tls) {
    const client = new ImapFlow({
      host,
      port: implicit ? ports.IMAPS_PORT : port,
      secure: implicit === true,
      doSTARTTLS: implicit ? undefined : true,
      auth: { user, pass: password },
      tls,
      logger: false
    })
    client.on('error', () => {})
    await client.connect()
    return client
  },

  async answer (client) {
    await client.append('INBOX', 'Subject: answer\r\n\r\nsix times seven\r\n')
    const lock = await client.getMailboxLock('INBOX')
    try {
      const { envelope } = await client.fetchOne('*', { envelope: true })
      await client.messageDelete('1:*')
      return envelope.subject
    } finally {
      lock.release()
    }
  },

  /** As base64 in lines: mail is text. */
  async echo (client, bytes) {
    const text = bytes.toString('base64').replace(/.{76}/g, '$&\r\n')
    await client.append('INBOX', Buffer.concat([head, Buffer.from(text)]))
    const lock = await client.getMailboxLock('INBOX')
    try {
      const { content } = await client.download('*')
      const message = await buffer(content)
      await client.messageDelete('1:*')
      const body = message.subarray(message.indexOf('\r\n\r\n') + 4)
      return { back: Buffer.from(String(body), 'base64') }
    } finally {
      lock.release()
    }
  },

  close: (client) => client.logout()
}
