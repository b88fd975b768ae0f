'use strict'

const { once } = require('node:events')
const nodemailer = require('nodemailer')

const encode = (bytes) => bytes.toString('base64').replace(/.{76}/g, '$&\r\n')

async function send ({ transport, user }, bytes) {
  const { response } = await transport.sendMail({
    envelope: { from: `${user}@example.test`, to: 'somebody@example.test' },
    raw: `Subject: test\r\n\r\n${encode(bytes)}\r\n`
  })
  return /sha256 ([0-9a-f]{64})/.exec(response)[1]
}

/** The driver's own hook: a connection that is secure already. */
async function secured ({ host, ports }, tls, { package: name }) {
  const { connect } = require(name)
  const connection = connect({ host, port: ports.SMTPS_PORT, ...tls })
  await once(connection, 'secureConnect')
  return { connection, secure: true, secured: true }
}

module.exports = {
  // The connection is made for the first mail.
  async open (server, tls, job) {
    const { host, port, user, password, ports, implicit } = server
    const transport = nodemailer.createTransport({
      pool: job.way !== 'hook',
      maxConnections: 1,
      host,
      auth: { user, pass: password },
      tls,
      ...(job.way === 'hook'
        ? await secured(server, tls, job)
        : implicit
          ? { port: ports.SMTPS_PORT, secure: true }
          : { port, requireTLS: true })
    })
    return { transport, user }
  },

  answer: (client) => send(client, Buffer.from('six times seven')),

  // Mail is not sent back: the server tells its hash.
  echo: async (client, bytes) => ({ sum: await send(client, bytes) }),

  close: ({ transport }) => transport.close()
}
