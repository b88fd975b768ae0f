'use strict'

/**
 * An https.Agent and its idle sockets, which it guards by their handles.
 */

const assert = require('node:assert')
const { once } = require('node:events')
const https = require('node:https')
const { text } = require('node:stream/consumers')

const certs = require('../support/certs')
const { usePeers } = require('../support/peers')
const { eachSubject } = require('../support/subjects')

const { ca } = certs
const major = Number(process.versions.node.split('.')[0])

describe('an https.Agent', () => {
  const peers = usePeers()

  /** Answers everything with "ok", and says more than it was asked if told to. */
  const talkative = () => peers.tlsServer(certs.server, (socket, peer) => {
    socket.on('data', () => socket.write('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok'))
    peer.on('poison', () => {
      socket.write('HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\nevil')
    })
  })

  eachSubject((subject) => {
    let agent

    beforeEach(() => {
      agent = new https.Agent({ keepAlive: true, maxSockets: 1, ca })
      agent.createConnection = (options) => subject.connect(options)
    })

    afterEach(() => agent.destroy())

    async function request (server) {
      const outgoing = https.get({ agent, host: '127.0.0.1', port: server.port })
      const [incoming] = await once(outgoing, 'response')
      const { socket } = incoming
      const freed = once(socket, 'free')
      const body = await text(incoming)
      await freed
      return { body, socket }
    }

    it('uses its sockets again', async () => {
      const server = await talkative()
      const first = await request(server)
      const second = await request(server)
      assert.strictEqual(second.socket, first.socket)
      assert.deepStrictEqual([first.body, second.body], ['ok', 'ok'])
      assert.strictEqual(Object.keys(agent.freeSockets).length, 1)
    })

    // Older versions take what comes for the next answer.
    if (major >= 22) {
      it('gives up an idle socket to which something comes unasked', async () => {
        const server = await talkative()
        const first = await request(server)
        const gone = once(first.socket, 'close')
        server.tell('poison')
        await gone
        assert.deepStrictEqual(Object.keys(agent.freeSockets), [])
        const second = await request(server)
        assert.notStrictEqual(second.socket, first.socket)
        assert.strictEqual(second.body, 'ok')
      })
    }

    it('removes a socket that the server ends', async () => {
      const server = await peers.tlsServer(certs.server, (socket, peer) => {
        socket.on('data', () => socket.write('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok'))
        peer.on('end', () => socket.end())
      })
      const { socket } = await request(server)
      const gone = once(socket, 'close')
      server.tell('end')
      await gone
      assert.deepStrictEqual(Object.keys(agent.freeSockets), [])
    })

    // Row "sessions of an https.Agent" of docs/compat.md.
    it('decides itself which sessions are used', async () => {
      const server = await talkative()
      const reused = []
      for (let count = 0; count < 2; count++) {
        const { socket } = await request(server)
        reused.push(socket.isSessionReused())
        const gone = once(socket, 'close')
        socket.destroy()
        await gone
      }
      assert.deepStrictEqual(reused, [false, false])
    })
  })
})
