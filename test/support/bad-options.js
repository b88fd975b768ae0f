'use strict'

/**
 * A child process of bad-input.test.js: gives every option of connect() every
 * wrong value, and prints what comes of it, one line of JSON each:
 *
 *   ["upgrade", "ca", "a Map", "throws TypeError ERR_... The ..."]
 *
 * Its arguments: 'node' or 'eager', and how many cases to leave out, because
 * one may end the process.
 */

const { once } = require('node:events')
const { Duplex } = require('node:stream')

const { nonsense, streams } = require('./nonsense')

const [, , subject, skipped] = process.argv
const library = subject === 'node' ? require('node:tls') : require('../..')

const CONTEXT = [
  'allowPartialTrustChain', 'ca', 'cert', 'certificateCompression', 'ciphers',
  'clientCertEngine', 'crl', 'dhparam', 'ecdhCurve', 'honorCipherOrder', 'key',
  'maxVersion', 'minVersion', 'passphrase', 'pfx', 'privateKeyEngine',
  'privateKeyIdentifier', 'secureContext', 'secureOptions', 'secureProtocol',
  'sessionIdContext', 'sessionTimeout', 'sigalgs', 'ticketKeys'
]
const CONNECTION = [
  'ALPNCallback', 'ALPNProtocols', 'SNICallback', 'allowHalfOpen',
  'checkServerIdentity', 'enableTrace', 'handle', 'highWaterMark', 'host',
  'isServer', 'keepAlive', 'keepAliveInitialDelay', 'lookup', 'minDHSize',
  'noDelay', 'onread', 'path', 'pauseOnConnect', 'port', 'pskCallback',
  'rejectUnauthorized', 'requestCert', 'requestOCSP', 'servername', 'session',
  'signal', 'socket', 'timeout'
]
const NETWORK = [
  'allowHalfOpen', 'autoSelectFamily', 'autoSelectFamilyAttemptTimeout',
  'blockList', 'family', 'hints', 'host', 'keepAlive', 'keepAliveInitialDelay',
  'localAddress', 'localPort', 'lookup', 'noDelay', 'onread', 'path', 'port',
  'timeout'
]
const OWN = [
  'handshakeTimeout', 'offload', 'sessionReuse', 'singleUse', 'transport'
]

/** [kind, option, name of the value, function that makes it] */
function * cases () {
  const own = subject === 'node' ? [] : OWN
  for (const option of [...CONTEXT, ...CONNECTION, ...own]) {
    const values = option === 'socket' ? { ...nonsense, ...streams } : nonsense
    for (const [name, make] of Object.entries(values)) {
      yield ['upgrade', option, name, make]
    }
  }
  for (const option of NETWORK) {
    for (const [name, make] of Object.entries(nonsense)) {
      yield ['connection', option, name, make]
    }
  }
}

function optionsOf (kind, option, value) {
  const where = kind === 'upgrade' && option !== 'socket'
    ? { socket: new Duplex({ read () {}, write (chunk, encoding, done) { done() } }) }
    : { host: '127.0.0.1', port: 1 }
  return { ...where, rejectUnauthorized: false, [option]: value }
}

/** Without what differs between two runs. */
function describe (error) {
  const message = String(error.message).replace(/^[0-9A-F]{16}:/, '')
  return `throws ${error.constructor.name} ${error.code} ${message}`
}

async function outcome (kind, option, make) {
  const options = optionsOf(kind, option, make())
  let socket
  try {
    socket = library.connect(options)
  } catch (error) {
    if (subject === 'eager') options.socket?.destroy?.()
    return describe(error)
  }
  const errors = []
  socket.on('error', (error) => errors.push(error.code ?? error.message))
  for (let turn = 0; turn < 3; turn++) await new Promise(setImmediate)
  // What becomes of a connection to nowhere is a matter of time.
  const failed = kind === 'upgrade' && !(option === 'socket' && !options.socket)
  const result = failed ? ['opens', ...errors].join(' ') : 'opens'
  // node's own is left alone: destroying it at this point may throw later.
  if (subject === 'eager') {
    socket.destroy()
    if (!socket.closed) await once(socket, 'close')
    options.socket?.destroy?.()
  }
  return result
}

/** What is left in the process by a case that is over. */
function leftOver () {
  if (subject === 'node') return ''
  library.clear()
  const { connections, contexts } = library.stats()
  const left = [connections.live, connections.handshaking, contexts.live]
  return left.some((count) => count > 0) ? `, leaves ${left}` : ''
}

async function main () {
  let index = 0
  for (const [kind, option, name, make] of cases()) {
    if (index++ < Number(skipped)) continue
    let result
    const uncaught = (error) => {
      process.stdout.write(JSON.stringify([kind, option, name,
        `uncaught ${error.code ?? error.message}`]) + '\n')
      process.exit(1)
    }
    process.once('uncaughtException', uncaught)
    result = await outcome(kind, option, make)
    process.removeListener('uncaughtException', uncaught)
    result += leftOver()
    process.stdout.write(JSON.stringify([kind, option, name, result]) + '\n')
  }
  process.exit(0)
}

main()
