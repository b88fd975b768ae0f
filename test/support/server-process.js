'use strict'

/**
 * Real servers from Debian's packages, started by test/servers/scripts on free
 * ports of the loopback, each with a directory of its own.
 *
 *   describe('pg', () => {
 *     const server = useServer('postgresql')
 *     it('...', () => connectTo(server.host, server.port, server.ca))
 *   })
 */

const { execFile, execFileSync } = require('node:child_process')
const { once } = require('node:events')
const fs = require('node:fs')
const net = require('node:net')
const os = require('node:os')
const path = require('node:path')
const { promisify } = require('node:util')
const certs = require('./certs')

const scripts = path.join(__dirname, '..', 'servers', 'scripts')

// What a server listens on: the environment variables its script reads; the
// first one is `port`. And how to log in.
const kinds = {
  postgresql: { ports: ['PORT'], user: 'tester', database: 'postgres' },
  mariadb: { ports: ['PORT'], user: 'tester', database: 't' },
  vsftpd: { ports: ['PORT'], user: 'anonymous' },
  dovecot: {
    ports: ['IMAP_PORT', 'POP3_PORT', 'IMAPS_PORT', 'POP3S_PORT'],
    user: 'tester'
  },
  slapd: { ports: ['PORT'], user: 'cn=admin,dc=example,dc=test' },
  redis: { ports: ['PORT'], user: 'default' },
  nats: { ports: ['PORT'], user: 'tester' },
  mosquitto: { ports: ['PORT'], user: 'tester' },
  rabbitmq: { ports: ['PORT', 'EPMD_PORT', 'DIST_PORT'], user: 'tester' }
}

/** As many ports as asked for that nobody listens on just now. */
async function freePorts (count) {
  const servers = Array.from({ length: count }, () => net.createServer())
  const ports = []
  for (const server of servers) {
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    ports.push(server.address().port)
  }
  for (const server of servers) {
    server.close()
    await once(server, 'close')
  }
  return ports
}

class ServerProcess {
  #script
  #env
  #stopOnExit = () => this.#stopNow()

  host = '127.0.0.1'
  password = 'secret'
  /** PEM of the CA that signed the server's certificate, and its path. */
  ca = certs.ca
  caFile = certs.file('ca.crt')

  constructor (name, env) {
    this.name = name
    this.#script = path.join(scripts, `${name}.sh`)
    this.#env = env
  }

  /** Starts it; ports are chosen anew if somebody was faster. */
  async start () {
    const { ports, user, database } = kinds[this.name]
    this.user = user
    this.database = database
    this.dir = fs.mkdtempSync(path.join(os.tmpdir(), `eager-tls-${this.name}-`))
    fs.chmodSync(this.dir, 0o755)
    process.once('exit', this.#stopOnExit)
    for (let attempt = 1; ; attempt++) {
      const free = await freePorts(ports.length)
      /** Ports by the name of the script's variable; `port` is the first. */
      this.ports = Object.fromEntries(ports.map((name, i) => [name, free[i]]))
      this.port = free[0]
      try {
        await promisify(execFile)('bash', [this.#script, 'start'], this.#options())
        return this
      } catch (error) {
        this.#stopNow()
        if (attempt === 3 || !/in use/i.test(this.log())) {
          await this.stop()
          throw new Error(`${this.name} did not start: ${error.stderr}`)
        }
      }
    }
  }

  /** What the server wrote to its log so far. */
  log () {
    try {
      return fs.readFileSync(path.join(this.dir, this.name, 'log'), 'utf8')
    } catch {
      return ''
    }
  }

  async stop () {
    process.removeListener('exit', this.#stopOnExit)
    await promisify(execFile)('bash', [this.#script, 'stop'], this.#options())
    fs.rmSync(this.dir, { recursive: true, force: true })
  }

  #options () {
    const ports = Object.fromEntries(
      Object.entries(this.ports).map(([name, port]) => [name, String(port)]))
    return {
      env: { ...process.env, TLS_SERVERS_DIR: this.dir, ...ports, ...this.#env },
      encoding: 'utf8'
    }
  }

  #stopNow () {
    execFileSync('bash', [this.#script, 'stop'], this.#options())
  }
}

/**
 * Starts a server.
 *
 * @param {string} name a key of `kinds`
 * @param {object} [env] more for its script, such as { REUSE: 'NO' }
 * @returns {Promise<ServerProcess>}
 */
function startServer (name, env = {}) {
  return new ServerProcess(name, env).start()
}

/**
 * Within a `describe`: a server that runs while its tests do. The object is
 * filled when the first test starts.
 *
 * @returns {ServerProcess}
 */
function useServer (name, env = {}) {
  const server = new ServerProcess(name, env)
  before(`start ${name}`, async function () {
    this.timeout(60_000)
    await server.start()
  })
  after(`stop ${name}`, async function () {
    this.timeout(60_000)
    await server.stop()
  })
  return server
}

module.exports = { startServer, useServer }
