'use strict'

/** What a server sends with, and after, the end of its handshake. */

const assert = require('node:assert')
const { once } = require('node:events')

const certs = require('../support/certs')
const { usePeers } = require('../support/peers')
const { closed, connected, secured } = require('../support/sockets')
const { segmentsServer } = require('../support/segments-server')
const { eachSubject } = require('../support/subjects')

const { ca } = certs

describe('a server', () => {
  const peers = usePeers()

  eachSubject((subject) => {
    it('whose first data comes with its Finished, does not overtake promises', async () => {
      const server = await segmentsServer(peers, { greeting: 'hello' },
        { maxVersion: 'TLSv1.2' })
      const socket = subject.connect({ socket: await connected(server), ca })
      const order = []
      socket.on('data', (chunk) => order.push(String(chunk)))
      socket.once('secureConnect', async () => {
        order.push('secureConnect')
        for (let count = 0; count < 3; count++) await null
        order.push('after it')
      })
      await once(socket, 'data')
      assert.deepStrictEqual(order, ['secureConnect', 'after it', 'hello'])
      socket.destroy()
    })

    it('whose first data comes with its Finished, is not read by who destroys', async () => {
      const server = await segmentsServer(peers, { greeting: 'hello' },
        { maxVersion: 'TLSv1.2' })
      const socket = subject.connect({ socket: await connected(server), ca })
      const seen = []
      socket.on('data', () => seen.push('data'))
      await secured(socket)
      socket.destroy()
      await closed(socket)
      assert.deepStrictEqual(seen, [])
      assert.strictEqual(socket.bytesRead, 0)
    })

    for (const maxVersion of ['TLSv1.2', 'TLSv1.3']) {
      // OpenSSL 3.5 looks at the type first, where the version means nothing.
      const code = maxVersion === 'TLSv1.3' &&
        !process.versions.openssl.startsWith('3.0.')
        ? 'ERR_SSL_BAD_RECORD_TYPE'
        : 'ERR_SSL_WRONG_VERSION_NUMBER'

      it(`that sends what is no record, with ${maxVersion}, is an error`, async () => {
        const server = await segmentsServer(peers, { broken: 'this is no TLS' },
          { maxVersion })
        const socket = await secured(subject.connect({
          socket: await connected(server), ca
        }))
        const seen = []
        for (const event of ['error', 'end', 'finish']) {
          socket.on(event, (error) => {
            seen.push(error ? `${event} ${error.code}` : event)
          })
        }
        socket.resume().write('x')
        await once(socket, 'error')
        if (!subject.native) {
          // It stays open, and nothing comes any more.
          assert.deepStrictEqual(seen, [`error ${code}`])
          assert.strictEqual(socket.destroyed, false)
          socket.destroy()
          return
        }
        // Row "errors after the handshake" of docs/compat.md.
        assert.strictEqual(await closed(socket), false)
        assert.deepStrictEqual(seen,
          [`error ${code}`, 'end', 'finish'])
      })

      it(`that sends what is no record, with ${maxVersion}, fails writes, too`, async () => {
        const server = await segmentsServer(peers, { broken: 'this is no TLS' },
          { maxVersion })
        const socket = await secured(subject.connect({
          socket: await connected(server), ca
        }))
        const errors = []
        const told = new Promise((resolve) => socket.on('error', (error) => {
          if (errors.push(error.code) === 1) socket.write('y', resolve)
        }))
        const gone = new Promise((resolve) => socket.once('close', resolve))
        socket.resume().write('x')
        assert.strictEqual((await told).code, 'EPROTO')
        assert.strictEqual(await gone, true)
        assert.deepStrictEqual(errors, [code, 'EPROTO'])
      })

      const gone = {
        'of a raw socket that was ended': [{}, (raw) => raw.end()],
        'of a peer that is gone': [{ gone: true }, () => {}]
      }
      for (const [name, [script, act]] of Object.entries(gone)) {
        it(`that sends what is no record, with ${maxVersion}, is one error ${name}`, async () => {
          const server = await segmentsServer(peers,
            { broken: 'this is no TLS', ...script }, { maxVersion })
          const raw = await connected(server)
          const socket = await secured(subject.connect({ socket: raw, ca }))
          const errors = []
          raw.on('error', (error) => errors.push(`raw ${error.code}`))
          socket.on('error', (error) => errors.push(error.code))
          await new Promise(setImmediate)
          socket.resume().write('x')
          act(raw)
          await once(socket, 'error')
          if (subject.native) await once(socket, 'close')
          else for (let turn = 0; turn < 5; turn++) await new Promise(setImmediate)
          socket.destroy()
          // Row "one error, and none after close" of docs/compat.md.
          assert.deepStrictEqual(subject.native ? errors : errors.slice(0, 1), [code])
        })
      }

      it(`that sends what is no record, with ${maxVersion}, ends a write that waits`, async () => {
        const server = await segmentsServer(peers,
          { broken: 'this is no TLS', deaf: true }, { maxVersion })
        const socket = await secured(subject.connect({
          socket: await connected(server), ca
        }))
        const failed = once(socket, 'error')
        const told = new Promise((resolve) => {
          socket.write(Buffer.alloc(32 << 20), resolve)
        })
        socket.resume()
        await failed
        if (!subject.native) socket.destroy()
        const error = await told
        if (subject.native) assert.strictEqual(error.code, 'EPROTO')
        if (!socket.closed) await once(socket, 'close')
      })
    }
  })
})
