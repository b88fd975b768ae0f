'use strict'

/**
 * The client's side of the plaintext that precedes TLS in each protocol: what
 * drivers send to ask for TLS. Each is `async (socket) => void` on a connected
 * raw socket, which it leaves with nothing unread and no listener.
 */

/** Resolves with the bytes that arrived once `complete(bytes)` says so. */
function receive (socket, complete) {
  return new Promise((resolve, reject) => {
    let bytes = Buffer.alloc(0)
    const settle = (act, value) => {
      socket.removeListener('data', onData)
      socket.removeListener('close', onClose)
      act(value)
    }
    const onClose = () => settle(reject, new Error('closed before TLS'))
    const onData = (chunk) => {
      bytes = Buffer.concat([bytes, chunk])
      if (complete(bytes)) settle(resolve, bytes)
    }
    socket.on('data', onData)
    socket.on('close', onClose)
  })
}

function expect (condition, protocol, answer) {
  if (condition) return
  throw new Error(`the server refused TLS (${protocol}): ` +
    JSON.stringify(answer.toString('latin1').slice(0, 200)))
}

// A line whose fourth character is no dash ends an answer of SMTP.
const smtpAnswer = (bytes) => /^\d{3} .*\r\n$/m.test(bytes.toString('latin1')) &&
  bytes.at(-1) === 0x0a

async function smtp (socket) {
  await receive(socket, smtpAnswer)
  socket.write('EHLO bench.localhost\r\n')
  await receive(socket, smtpAnswer)
  socket.write('STARTTLS\r\n')
  const answer = await receive(socket, smtpAnswer)
  expect(answer.toString('latin1', 0, 3) === '220', 'smtp', answer)
}

async function imap (socket) {
  await receive(socket, (bytes) => bytes.at(-1) === 0x0a)
  socket.write('a1 STARTTLS\r\n')
  const answer = await receive(socket, (bytes) => /^a1 .*\r\n$/m.test(bytes))
  expect(/^a1 OK/m.test(answer), 'imap', answer)
}

async function postgres (socket) {
  socket.write(Buffer.from([0, 0, 0, 8, 4, 210, 22, 47]))
  const answer = await receive(socket, (bytes) => bytes.length > 0)
  expect(answer.toString() === 'S', 'postgres', answer)
}

// ExtendedRequest 1.3.6.1.4.1.1466.20037; the result code is the first
// ENUMERATED of the answer.
async function ldap (socket) {
  const oid = Buffer.from('1.3.6.1.4.1.1466.20037')
  const name = Buffer.concat([Buffer.from([0x80, oid.length]), oid])
  const request = Buffer.concat([Buffer.from([0x77, name.length]), name])
  socket.write(Buffer.concat([
    Buffer.from([0x30, request.length + 3, 2, 1, 1]), request
  ]))
  const answer = await receive(socket, (bytes) =>
    bytes.length >= 2 && bytes.length >= bytes[1] + 2)
  const at = answer.indexOf(Buffer.from([0x0a, 0x01]))
  expect(at !== -1 && answer[at + 2] === 0, 'ldap', answer)
}

// PROTOCOL_41, SSL, SECURE_CONNECTION, PLUGIN_AUTH and what goes with them.
const MYSQL_CAPABILITIES = 0x0008aa05

async function mysql (socket) {
  const greeting = await receive(socket, (bytes) =>
    bytes.length >= 4 && bytes.length >= bytes.readUIntLE(0, 3) + 4)
  expect(greeting[4] === 10, 'mysql', greeting)
  const request = Buffer.alloc(36)
  request.writeUIntLE(32, 0, 3)
  request[3] = 1
  request.writeUInt32LE(MYSQL_CAPABILITIES, 4)
  request.writeUInt32LE(0x01000000, 8)
  request[12] = 45
  socket.write(request)
}

const preludes = { none: null, smtp, imap, postgres, ldap, mysql }

module.exports = { preludes }
