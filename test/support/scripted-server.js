'use strict'

/**
 * Servers that are a file in test/servers/scripted, each in a process of its
 * own: { host, port, ports, user, password, ca } as those of useServer().
 */

const { fork } = require('node:child_process')
const { once } = require('node:events')
const path = require('node:path')
const certs = require('./certs')

const scripts = path.join(__dirname, '..', 'servers', 'scripted')

/**
 * Within a `describe`: a server that runs while its tests do. The object is
 * filled when the first test starts.
 *
 * @param {string} name
 */
function useScripted (name) {
  const server = { user: 'tester', password: 'secret', ca: certs.ca }
  let child

  before(`start ${name}`, async () => {
    const { certFile, keyFile } = certs.server
    child = fork(path.join(scripts, `${name}.js`), [certFile, keyFile], {
      execArgv: []
    })
    const [ports] = await once(child, 'message')
    server.ports = ports
    server.port = ports.PORT
  })

  after(`stop ${name}`, async () => {
    if (child.exitCode !== null) {
      throw new Error(`${name} ended with status ${child.exitCode}`)
    }
    const exited = once(child, 'exit')
    child.kill()
    await exited
  })

  return server
}

module.exports = { useScripted }
