'use strict'

const { byteProxy } = require('./byte-proxy')
const { plainServer, startTlsServer } = require('./plain-server')
const { sServer } = require('./s-server')
const { abandonConnected } = require('./sockets')
const { tlsServer } = require('./tls-server')

/**
 * The peers for the tests of the `describe` in which this is called. What a
 * test opens through them or by connected(), or hands to `keep`, is closed after
 * it.
 */
function usePeers () {
  const open = []

  const closing = (make) => async (...args) => {
    const peer = await make(...args)
    open.push(() => peer.close())
    return peer
  }

  afterEach(async function closeAll () {
    // Clients first: a server that goes may reset what they have not read.
    abandonConnected()
    for (const close of open.splice(0).reverse()) await close()
  })

  return {
    byteProxy: closing(byteProxy),
    plainServer: closing(plainServer),
    sServer: closing(sServer),
    startTlsServer: closing(startTlsServer),
    tlsServer: closing(tlsServer),
    /** Destroys this socket after the test. */
    keep (socket) {
      open.push(() => { socket.destroy() })
      return socket
    }
  }
}

module.exports = { usePeers }
