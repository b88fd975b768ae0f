'use strict'

/**
 * Runs up to one step in the life of a connection and stops there:
 *
 *   node stop-child.js '{ "port", "step", "how", "subject", "transport", ... }'
 *
 * In a worker it takes the same from workerData, and opens `others` connections
 * that are in the handshake when that happens.
 *
 *   how  exit: process.exit(7)   throw: an uncaught exception
 *        write: writes 'bye', then process.exit(7)
 *        stay: says 'there' and goes on
 */

const net = require('node:net')
const { isMainThread, parentPort, workerData } = require('node:worker_threads')

const job = isMainThread ? JSON.parse(process.argv[2]) : workerData
const api = job.subject === 'node'
  ? require('node:tls')
  : require(process.env.EAGER_TLS_TEST_PACKAGE ?? '../..')

let stopped = false
function stop () {
  if (stopped) return
  stopped = true
  switch (job.how) {
    case 'exit':
      process.exit(7)
      break
    case 'throw':
      throw new Error('thrown on purpose')
    case 'write':
      socket.write('bye')
      process.exit(7)
      break
    case 'stay':
      parentPort.postMessage('there')
  }
}

function connect () {
  const raw = net.connect(job.port, '127.0.0.1')
  const options = {
    socket: raw,
    ca: job.ca,
    singleUse: true,
    checkServerIdentity: () => {
      if (job.step === 'checkServerIdentity') stop()
    }
  }
  if (job.transport) options.transport = job.transport
  if (job.step === 'pskCallback') {
    options.pskCallback = () => {
      stop()
      return null
    }
  }
  return api.connect(options)
}

const socket = connect()
socket.on('error', () => {})
socket._parent.on('error', () => {})

switch (job.step) {
  case 'now':
    stop()
    break
  case 'raw close':
    socket._parent.on('close', stop)
    socket.on('secureConnect', () => socket.destroy())
    break
  case 'write callback':
    socket.write('x', stop)
    break
  case 'tick':
    socket.on('secureConnect', () => process.nextTick(stop))
    break
  case 'turn':
    socket.on('secureConnect', () => setImmediate(stop))
    break
  case 'handshake':
    socket.on('connect', () => setImmediate(stop))
    break
  default:
    socket.on(job.step, stop)
}
socket.on('secureConnect', () => {
  socket.resume()
  socket.write('ping')
  if (['end', 'finish', 'close'].includes(job.step)) socket.end()
  if (job.step === 'error') socket.destroy(new Error('asked for'))
})
for (let n = 0; n < (job.others ?? 0); n++) connect().on('error', () => {})
