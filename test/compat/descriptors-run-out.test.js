'use strict'

/** No descriptor is left for the duplicate that the core would use. */

const assert = require('node:assert')
const { execFile } = require('node:child_process')
const path = require('node:path')
const { promisify } = require('node:util')

const certs = require('../support/certs')
const { usePeers } = require('../support/peers')
const { subjects } = require('../support/subjects')

const run = promisify(execFile)
const root = path.join(__dirname, '../..')

/* Runs in a process that may open 64 descriptors: takes all that are left when
 * the raw socket is connected. */
function child () {
  const fs = require('node:fs')
  const net = require('node:net')
  const { connect, stats } = require(process.env.TEST_ROOT)
  const { TEST_CA: ca, TEST_PORT: port, TEST_TRANSPORT: transport } = process.env
  const raw = net.connect(port, '127.0.0.1', () => {
    try {
      for (;;) fs.openSync('/dev/null')
    } catch (error) {
      if (error.code !== 'EMFILE') throw error
    }
    const socket = connect({ socket: raw, ca, transport })
    const seen = []
    socket.on('error', (error) => seen.push(error.code))
    socket.on('secureConnect', () => socket.write('ping'))
    socket.on('data', (chunk) => {
      seen.push(String(chunk))
      socket.end()
    })
    socket.on('close', () => {
      const { fd, stream, live } = stats().connections
      console.log(JSON.stringify({ seen, fd, stream, live }))
      process.exit()
    })
  })
}

for (const subject of subjects().filter(({ transport }) => transport === 'fd')) {
  describe(`when descriptors run out, with ${subject.name}`, () => {
    const peers = usePeers()

    async function upgrade (transport) {
      const server = await peers.tlsServer(certs.server)
      const { stdout } = await run('sh', ['-c', 'ulimit -n 64 && exec "$@"', 'sh',
        process.execPath, '-e', `(${child})()`], {
        env: {
          ...process.env,
          TEST_CA: String(certs.ca),
          TEST_PORT: server.port,
          TEST_ROOT: root,
          TEST_TRANSPORT: transport
        }
      })
      return JSON.parse(stdout)
    }

    it("'auto' falls back on the stream", async () => {
      assert.deepStrictEqual(await upgrade('auto'),
        { seen: ['ping'], fd: 0, stream: 1, live: 0 })
    })

    it("'fd' fails", async () => {
      assert.deepStrictEqual(await upgrade('fd'),
        { seen: ['ERR_EAGER_TLS_TRANSPORT'], fd: 0, stream: 0, live: 0 })
    })
  })
}
