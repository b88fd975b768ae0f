'use strict'

// As much of PostgreSQL as a login takes: SSLRequest, then SCRAM-SHA-256-PLUS
// (RFC 5802, RFC 5929: tls-server-end-point) for user tester, password secret.
// The model resumes no sessions; this server does.

const crypto = require('node:crypto')
const net = require('node:net')
const tls = require('node:tls')
const { identity, listen } = require('./listen')

const MECHANISM = 'SCRAM-SHA-256-PLUS'
const PASSWORD = 'secret'
const ITERATIONS = 4096
const BINDING = Buffer.concat([
  Buffer.from('p=tls-server-end-point,,'),
  crypto.createHash('sha256')
    .update(new crypto.X509Certificate(identity.cert).raw).digest()
]).toString('base64')

const hmac = (key, data) => crypto.createHmac('sha256', key).update(data).digest()

/** A message: its type, its length, its content. */
function message (type, ...parts) {
  const body = Buffer.concat(parts.map((part) => Buffer.from(part)))
  const head = Buffer.alloc(5)
  head.write(type)
  head.writeUInt32BE(body.length + 4, 1)
  return Buffer.concat([head, body])
}

const sasl = (step, ...parts) => message('R', [0, 0, 0, step], ...parts)

/** What the server says, given the client's messages one after another. */
class Login {
  #salt = crypto.randomBytes(16)
  #first
  #challenge

  /** The client's first message, which names the mechanism. */
  begin (body) {
    const end = body.indexOf(0)
    if (body.toString('latin1', 0, end) !== MECHANISM) throw new Error('mechanism')
    this.#first = String(body.subarray(end + 5)).replace(/^[^,]*,[^,]*,/, '')
    const nonce = /r=([^,]*)/.exec(this.#first)[1]
    this.#challenge = `r=${nonce}${crypto.randomBytes(9).toString('base64')}` +
      `,s=${this.#salt.toString('base64')},i=${ITERATIONS}`
    return sasl(11, this.#challenge)
  }

  /** The client's proof, and the hash of the certificate that it saw. */
  finish (body) {
    const [, withoutProof, proof] = /^(.*),p=(.*)$/.exec(body)
    if (/^c=([^,]*)/.exec(withoutProof)[1] !== BINDING) throw new Error('binding')
    const salted = crypto.pbkdf2Sync(PASSWORD, this.#salt, ITERATIONS, 32, 'sha256')
    const clientKey = hmac(salted, 'Client Key')
    const stored = crypto.createHash('sha256').update(clientKey).digest()
    const all = `${this.#first},${this.#challenge},${withoutProof}`
    const signature = hmac(stored, all)
    const expected = clientKey.map((byte, i) => byte ^ signature[i])
    if (Buffer.from(expected).toString('base64') !== proof) throw new Error('proof')
    const verifier = hmac(hmac(salted, 'Server Key'), all).toString('base64')
    return Buffer.concat([
      sasl(12, `v=${verifier}`), sasl(0), message('Z', 'I')
    ])
  }
}

function serve (socket) {
  const login = new Login()
  const steps = [
    () => sasl(10, `${MECHANISM}\0\0`),
    (body) => login.begin(body),
    (body) => login.finish(String(body))
  ]
  socket.on('error', () => {})
  // The client waits for each answer: what comes at once is one message.
  socket.on('data', (chunk) => {
    const step = steps.shift()
    if (step === undefined) {
      socket.end()
      return
    }
    try {
      socket.write(step(chunk.subarray(5)))
    } catch (error) {
      socket.end(message('E', `SFATAL\0C28000\0M${error.message}\0\0`))
    }
  })
}

const secure = tls.createServer(identity, serve)
listen({
  PORT: net.createServer((raw) => {
    raw.on('error', () => {})
    raw.once('data', () => {
      raw.pause()
      raw.write('S', () => secure.emit('connection', raw))
    })
  })
})
