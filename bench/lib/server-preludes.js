'use strict'

/**
 * The server's side of the plaintext that precedes TLS in each protocol, just
 * enough of it for a client that asks for TLS and nothing else. Each is
 * `(socket, secure)`: talks on the plain socket, then calls `secure()` with
 * nothing left unread and no listener left behind.
 */

/** Answers what arrives until an answer says that TLS comes next. */
function dialogue (greeting, answer) {
  return (socket, secure) => {
    let text = ''
    const onData = (chunk) => {
      text += chunk.toString('latin1')
      const reply = answer(text)
      if (reply === null) return
      text = ''
      if (reply.secure) socket.removeListener('data', onData)
      socket.write(Buffer.from(reply.text, 'latin1'))
      if (reply.secure) secure()
    }
    socket.on('data', onData)
    if (greeting !== null) socket.write(Buffer.from(greeting, 'latin1'))
  }
}

function line (text, table) {
  if (!text.endsWith('\r\n')) return null
  const found = table.find(([pattern]) => pattern.test(text))
  return { text: found[1], secure: found[2] === true }
}

const smtp = dialogue('220 bench ESMTP\r\n', (text) => line(text, [
  [/^EHLO/i, '250-bench\r\n250 STARTTLS\r\n'],
  [/^STARTTLS/i, '220 go ahead\r\n', true],
  [/^/, '502 no\r\n']
]))

const imap = dialogue('* OK bench\r\n', (text) => line(text, [
  [/^\S+ STARTTLS/i, 'a1 OK go ahead\r\n', true],
  [/^/, 'a1 BAD no\r\n']
]))

const postgres = dialogue(null, (text) =>
  text.length < 8 ? null : { text: 'S', secure: true })

// LDAPMessage 1, ExtendedResponse, success.
const ldap = dialogue(null, (text) => text.length < text.charCodeAt(1) + 2
  ? null
  : { text: '0\x0c\x02\x01\x01x\x07\x0a\x01\x00\x04\x00\x04\x00', secure: true })

// Protocol 10, capabilities that name SSL, an authentication that never comes.
const greeting = '\x0a8.0.0-bench\0' + '\x01\0\0\0' + 'saltsalt\0' +
  '\x00\x8a\x21\x02\0\x08\0\x15' + '\0'.repeat(10) + 'saltsaltsalt\0' +
  'mysql_native_password\0'
const header = String.fromCharCode(greeting.length, 0, 0, 0)

// The ClientHello follows the client's request at once, often in one segment.
const REQUEST_LENGTH = 36

function mysql (socket, secure) {
  let bytes = Buffer.alloc(0)
  socket.on('data', function onData (chunk) {
    bytes = Buffer.concat([bytes, chunk])
    if (bytes.length < REQUEST_LENGTH) return
    socket.removeListener('data', onData)
    if (bytes.length > REQUEST_LENGTH) {
      // Else it would flow on, to nobody.
      socket.pause()
      socket.unshift(bytes.subarray(REQUEST_LENGTH))
    }
    secure()
  })
  socket.write(Buffer.from(header + greeting, 'latin1'))
}

const preludes = { none: null, smtp, imap, postgres, ldap, mysql }

module.exports = { preludes }
