'use strict'

// Two module registries in one thread, as test runners have them: two copies
// of this package that share one binding.

const assert = require('node:assert/strict')
const { once } = require('node:events')
const path = require('node:path')

const certs = require('../support/certs')
const { usePeers } = require('../support/peers')
const { connected } = require('../support/sockets')

const LIB = path.join(__dirname, '../../lib') + path.sep

/** The package as another registry would load it. */
function loadCopy () {
  const taken = Object.keys(require.cache)
    .filter((file) => file.startsWith(LIB))
    .map((file) => [file, require.cache[file]])
  for (const [file] of taken) delete require.cache[file]
  try {
    return require('../..')
  } finally {
    for (const file of Object.keys(require.cache)) {
      if (file.startsWith(LIB)) delete require.cache[file]
    }
    for (const [file, module] of taken) require.cache[file] = module
  }
}

describe('two copies of the package in one thread', () => {
  const peers = usePeers()
  const first = require('../..')
  const second = loadCopy()

  it('are two', () => {
    assert.notEqual(first.connect, second.connect)
    assert.equal(first.backend, second.backend)
  })

  for (const transport of ['auto', 'stream']) {
    it(`read their own connections (${transport} transport)`, async () => {
      const server = await peers.tlsServer(certs.server)
      const { ca } = certs
      const open = async ({ connect }) => {
        const socket = connect({ socket: await connected(server), ca, transport })
        await once(socket, 'secureConnect')
        return socket
      }
      const sockets = []
      for (const copy of [first, second, first]) sockets.push(await open(copy))
      // Larger than what is copied, and than what one slab holds.
      const texts = sockets.map((_, i) => Buffer.alloc(300_000, `${i}abcdefg`))
      const read = await Promise.all(sockets.map(async (socket, i) => {
        socket.end(texts[i])
        const chunks = []
        for await (const chunk of socket) chunks.push(chunk)
        return Buffer.concat(chunks)
      }))
      for (const [i, text] of texts.entries()) {
        assert.ok(read[i].equals(text), `connection ${i}`)
      }
      await Promise.all(sockets.map((socket) =>
        socket.closed || once(socket, 'close')))
      assert.equal(first.stats().connections.live, 0)
      assert.equal(second.stats().connections.live, 0)
    })
  }

  it('tell identity checks apart, whichever of them has met them', async () => {
    const server = await peers.tlsServer(certs.server)
    const reused = []
    const checks = [() => undefined, () => undefined]
    const copies = [loadCopy(), loadCopy()]
    copies[0].clear()
    for (const [copy, check] of [[0, 0], [1, 1], [0, 0], [1, 1], [0, 1]]) {
      const socket = copies[copy].connect({
        socket: await connected(server),
        ca: certs.ca,
        checkServerIdentity: checks[check]
      })
      socket.once('secureConnect', () => socket.write('x'))
      await once(socket, 'data')
      reused.push(socket.isSessionReused())
      socket.destroy()
      await once(socket, 'close')
    }
    const native = first.backend === 'native'
    assert.deepEqual(reused, [false, false, native, native, native])
  })

  it('share the settings on the native core', function () {
    // The fallback has nothing that is shared.
    if (first.backend !== 'native') this.skip()
    const { contexts: { max } } = first.configure()
    try {
      second.configure({ contexts: { max: max + 1 } })
      assert.equal(first.configure().contexts.max, max + 1)
      assert.equal(loadCopy().configure().contexts.max, max + 1)
    } finally {
      first.configure({ contexts: { max } })
    }
  })
})
