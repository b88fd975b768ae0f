'use strict'

const assert = require('node:assert')
const certs = require('./certs')
const { runDriver } = require('./driver-process')

const untrusted = new RegExp([
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE', 'unable to verify the first certificate',
  'SELF_SIGNED_CERT_IN_CHAIN', 'self-signed certificate in certificate chain'
].join('|'))
const misnamed =
  /ERR_TLS_CERT_ALTNAME_INVALID|does not match certificate's altnames/

/** The server as a child needs it, under the name that it can be verified by. */
function plain (server) {
  const { port, ports, user, password, database, dir, implicit, proxy } = server
  return {
    host: 'localhost',
    port,
    ports,
    user,
    password,
    database,
    dir,
    implicit,
    proxy
  }
}

/**
 * Defines, within a `describe`, the tests that every driver has to pass.
 *
 * @param {string} driver name of a file in test/servers/drivers
 * @param {object} server as useServer() gives it
 * @param {object} expected
 * @param {object} expected.answer what the driver's answer() gives
 * @param {object} [expected.tls] TLS options besides `ca`
 * @param {boolean} [expected.implicit] for drivers that can do both: TLS from
 *   the first byte
 * @param {boolean} [expected.proxy] for drivers that can do without: through
 *   the proxy
 * @param {string} [expected.way] see driver-process.js
 * @param {number} [expected.megabytes] to be sent there and back; 0: the
 *   protocol does not allow it
 * @param {number[]} [expected.opened] TLS connections for each of the three
 * @param {'fd'|'stream'} [expected.transport] of all of them
 * @param {number[]} [expected.resumed] how many of them resume a session
 * @param {boolean} [expected.collect] the driver forgets its TLS sockets
 *   instead of closing them: they are freed when they are collected
 * @param {object} [expected.wrongName] what makes the driver ask for
 *   another name than the server has: TLS options, and `host` to connect to
 */
function describeDriver (driver, server, expected) {
  const {
    answer, tls = {}, implicit, proxy, collect, way = 'require', megabytes = 5, opened = [1, 1, 1],
    resumed = [0, 1, 1], transport = 'fd',
    wrongName = { servername: 'hostb.test' }
  } = expected
  const title = [driver, ...Object.entries(tls).map(([k, v]) => `${k} ${v}`),
    ...(implicit ? ['implicit TLS'] : []),
    ...(way === 'require' ? [] : [way])].join(', ')

  describe(title, function () {
    this.timeout(60_000)
    const run = (job) => runDriver(driver, {
      server: plain({ ...server, implicit, proxy }),
      tls: { ca: String(server.ca), ...tls },
      way,
      collect,
      ...job
    })

    describe('connects three times', () => {
      let report
      before(async () => { report = await run({ connections: 3, megabytes }) })

      it('ends by itself, without a word', () => {
        assert.strictEqual(report.error, undefined)
        assert.strictEqual(report.output, '')
        assert.strictEqual(report.signal, null)
        assert.strictEqual(report.status, 0)
      })

      it('gets the right answers', () => {
        assert.deepStrictEqual(report.connections.map((c) => c.answer),
          [answer, answer, answer])
      })

      if (megabytes > 0) {
        it(`carries ${megabytes} MB unchanged`, () => {
          const { sent, back, server } = report.connections[0].echo
          const hashes = [back, server].filter((hash) => hash !== null)
          assert.ok(hashes.length > 0)
          for (const hash of hashes) assert.strictEqual(hash, sent)
        })
      }

      it('is served by the native core alone', () => {
        assert.strictEqual(report.backend, 'native')
        assert.strictEqual(report.fallbacks, 0)
        assert.strictEqual(report.live, 0)
        const each = (name) => report.connections.map((c) => c[name])
        assert.deepStrictEqual(each('opened'), opened)
        assert.deepStrictEqual(each(transport), opened)
      })

      it('shares one context', () => {
        const created = report.connections.map((c) => c.contexts)
        assert.deepStrictEqual(created, [1, 0, 0])
      })

      it(resumed[1] > 0 ? 'resumes sessions' : 'resumes no sessions', () => {
        assert.deepStrictEqual(report.connections.map((c) => c.resumed), resumed)
      })
    })

    describe('is refused', () => {
      const refusals = [
        ['another CA is trusted', { ca: String(certs.otherCa) }, untrusted],
        ['the server has another name', wrongName, misnamed]
      ]
      let report
      before(async () => {
        report = await run({
          refusals: refusals.map(([, { host, ...more }]) => ({
            host, tls: { ca: String(server.ca), ...tls, ...more }
          }))
        })
      })

      for (const [index, [what, , text]] of refusals.entries()) {
        it(`when ${what}`, () => {
          assert.match(report.refusals[index], text)
        })
      }

      it('and ends by itself all the same', () => {
        assert.strictEqual(report.error, undefined)
        assert.strictEqual(report.signal, null)
        assert.strictEqual(report.status, 0)
        assert.strictEqual(report.live, 0)
      })
    })
  })
}

module.exports = { describeDriver, plain }
