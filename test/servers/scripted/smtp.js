'use strict'

// SMTP with STARTTLS ($PORT) and over TLS ($SMTPS_PORT). It takes mail whose
// body is base64, and answers with the hash of what that stands for.

const { createHash } = require('node:crypto')
const { buffer } = require('node:stream/consumers')
const { SMTPServer } = require('smtp-server')
const { identity, listen } = require('./listen')

const options = {
  ...identity,
  onAuth ({ username, password }, session, callback) {
    const ok = username === 'tester' && password === 'secret' && session.secure
    callback(ok ? null : new Error('no'), { user: username })
  },
  async onData (stream, session, callback) {
    const message = await buffer(stream)
    const body = message.subarray(message.indexOf('\r\n\r\n') + 4)
    const bytes = Buffer.from(String(body), 'base64')
    callback(null, `sha256 ${createHash('sha256').update(bytes).digest('hex')}`)
  }
}

const servers = {
  PORT: new SMTPServer(options),
  SMTPS_PORT: new SMTPServer({ ...options, secure: true })
}
for (const server of Object.values(servers)) {
  server.on('error', () => {}) // of clients that refuse it
}
listen(servers)
