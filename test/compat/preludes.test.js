'use strict'

/**
 * The plaintext that real protocols exchange before they upgrade, against a
 * scripted server, whole and cut into single bytes.
 */

const assert = require('node:assert')

const certs = require('../support/certs')
const { usePeers } = require('../support/peers')
const { connected, secured, take } = require('../support/sockets')
const { eachSubject } = require('../support/subjects')

const { ca } = certs

const hex = (text) => Buffer.from(text.replaceAll(' ', ''), 'hex')
const text = (line) => Buffer.from(line, 'latin1')

// [who speaks, what], in turn.
const preludes = {
  postgresql: [
    ['client', hex('00 00 00 08 04 d2 16 2f')],
    ['server', text('S')]
  ],
  mysql: [
    ['server', Buffer.concat([hex('4a 00 00 00 0a'), text('8.0.36\0'), Buffer.alloc(66, 1)])],
    ['client', Buffer.concat([hex('20 00 00 01 8d a2 1b 00 00 00 00 01 ff'), Buffer.alloc(23)])]
  ],
  smtp: [
    ['server', text('220 mail.example ESMTP\r\n')],
    ['client', text('EHLO client.example\r\n')],
    ['server', text('250-mail.example\r\n250-SIZE 1000\r\n250 STARTTLS\r\n')],
    ['client', text('STARTTLS\r\n')],
    ['server', text('220 2.0.0 Ready\r\n')]
  ],
  imap: [
    ['server', text('* OK [CAPABILITY IMAP4rev1 STARTTLS] ready\r\n')],
    ['client', text('A1 STARTTLS\r\n')],
    ['server', text('A1 OK begin TLS\r\n')]
  ],
  ftp: [
    ['server', text('220 ready\r\n')],
    ['client', text('AUTH TLS\r\n')],
    ['server', text('234 AUTH TLS OK\r\n')]
  ],
  ldap: [
    ['client', hex('30 1d 02 01 01 77 18 80 16 312e332e362e312e342e312e313436362e3230303337')],
    ['server', hex('30 0c 02 01 01 78 07 0a 01 00 04 00 04 00')]
  ],
  xmpp: [
    ['client', text("<stream:stream to='localhost' version='1.0'>")],
    ['server', text("<stream:stream id='1'><stream:features><starttls/></stream:features>")],
    ['client', text("<starttls xmlns='urn:ietf:params:xml:ns:xmpp-tls'/>")],
    ['server', text("<proceed xmlns='urn:ietf:params:xml:ns:xmpp-tls'/>")]
  ],
  'http connect': [
    ['client', text('CONNECT db.example:443 HTTP/1.1\r\nHost: db.example\r\n\r\n')],
    ['server', text('HTTP/1.1 200 Connection established\r\n\r\n')]
  ],
  socks5: [
    ['client', hex('05 01 00')],
    ['server', hex('05 00')],
    ['client', hex('05 01 00 01 7f 00 00 01 01 bb')],
    ['server', hex('05 00 00 01 00 00 00 00 00 00')]
  ]
}

describe('an upgrade after the prelude of', () => {
  const peers = usePeers()

  /** Plays the server's part, then becomes a TLS server that echoes. */
  const scripted = (script) => peers.plainServer((socket, peer) => {
    const { script, tls } = peer.options
    let step = 0
    let rest = 0
    const next = () => {
      while (step < script.length && script[step][0] === 'server') {
        socket.write(script[step++][1])
      }
      if (step < script.length) rest = script[step++][1].length
      else finish()
    }
    const onReadable = () => {
      while (rest > 0 && socket.read(1) !== null) {
        if (--rest === 0) next()
      }
    }
    const finish = () => {
      socket.removeListener('readable', onReadable)
      peer.startTls(tls)
    }
    socket.on('readable', onReadable)
    next()
  }, { script, tls: certs.server })

  const wires = {
    'on a plain wire': {},
    'in single bytes both ways': { up: { split: 1 }, down: { split: 1 } }
  }

  eachSubject((subject) => {
    for (const [protocol, script] of Object.entries(preludes)) {
      for (const [how, rules] of Object.entries(wires)) {
        it(`${protocol} ${how} completes`, async () => {
          const server = await scripted(script)
          const proxy = await peers.byteProxy(server.port, rules)
          const raw = await connected(proxy)
          for (const [who, bytes] of script) {
            if (who === 'client') raw.write(bytes)
            else assert.ok((await take(raw, bytes.length)).equals(bytes))
          }
          const socket = await secured(subject.connect({ socket: raw, ca, host: 'localhost' }))
          socket.write('first query')
          assert.strictEqual(String(await take(socket, 11)), 'first query')
          socket.destroy()
        })
      }
    }
  })
})
