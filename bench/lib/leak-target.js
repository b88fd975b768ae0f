'use strict'

/**
 * The server of a leak run: the benchmark's own, a real one from Debian's
 * packages for a driver, or the user's.
 */

const path = require('node:path')
const { root, startServer } = require('./child')
const { drivers } = require('./drivers')
const { dir: pki, ensurePki } = require('./pki')

function usersTarget (options) {
  const at = options.server.lastIndexOf(':')
  const host = options.server.slice(0, at).replace(/^\[(.*)\]$/, '$1')
  const port = Number(options.server.slice(at + 1))
  if (at < 1 || !Number.isInteger(port)) {
    throw new Error(`--server takes host:port: ${options.server}`)
  }
  const { user, password, database, insecure } = options
  return {
    host,
    port,
    user,
    password,
    database,
    insecure,
    servername: options.servername ?? (/^[\d.]+$|:/.test(host) ? undefined : host),
    caFile: options.ca === undefined ? undefined : path.resolve(options.ca)
  }
}

async function realServer (name) {
  const { startServer: start } = require('../../test/support/server-process')
  const server = await start(name)
  const { host, port, user, password, database, caFile } = server
  return {
    about: `${name} on the loopback`,
    target: { host, port, user, password, database, caFile, servername: 'localhost' },
    echo: false,
    stop: () => server.stop()
  }
}

/**
 * @param {object} options of the command line
 * @returns {Promise<{ about: string, target: object, echo: boolean,
 *   stop: () => Promise<void> }>} echo: the server answers pings
 */
async function openTarget (options) {
  if (options.server !== undefined) {
    const target = usersTarget(options)
    return { about: options.server, target, echo: false, stop: async () => {} }
  }
  if (options.driver !== undefined) {
    return realServer(drivers[options.driver].server)
  }
  ensurePki()
  const server = await startServer({ starttls: options.starttls })
  return {
    about: 'a server of its own on the loopback',
    target: {
      host: '127.0.0.1',
      port: server.ports.tls,
      plainPort: server.ports.plain,
      servername: 'localhost',
      caFile: path.join(pki, 'ca.crt')
    },
    echo: true,
    stop: () => server.close()
  }
}

module.exports = { openTarget, root }
