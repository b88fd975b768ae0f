import * as http2 from 'node:http2'
import * as net from 'node:net'
import { Duplex, PassThrough } from 'node:stream'
import * as tls from 'node:tls'

import { expectAssignable, expectError, expectType } from 'tsd'

import * as eagerTls from '../../lib/index'
import { restore } from '../../lib/register'

const raw = new net.Socket()
const ca = Buffer.alloc(1)

// Every form of connect()
expectType<eagerTls.TLSSocket>(eagerTls.connect({ port: 1, host: 'h' }))
expectType<eagerTls.TLSSocket>(eagerTls.connect({ socket: raw, ca }, () => {}))
expectType<eagerTls.TLSSocket>(eagerTls.connect({ socket: null, port: 1 }))
expectType<eagerTls.TLSSocket>(eagerTls.connect(raw))
expectType<eagerTls.TLSSocket>(eagerTls.connect(raw, () => {}))
expectType<eagerTls.TLSSocket>(eagerTls.connect(new PassThrough(), { ca }, () => {}))
expectType<eagerTls.TLSSocket>(eagerTls.connect(1, 'h', { ca }, () => {}))
expectType<eagerTls.TLSSocket>(eagerTls.connect(1, { ca }, () => {}))
expectType<eagerTls.TLSSocket>(eagerTls.connect(1, 'h', () => {}))
expectType<eagerTls.TLSSocket>(eagerTls.connect(1, () => {}))
expectType<eagerTls.TLSSocket>(eagerTls.connect('/path', { ca }))
expectType<eagerTls.TLSSocket>(eagerTls.connect('/path', () => {}))
eagerTls.connect(raw, { ca }, function () {
  expectType<eagerTls.TLSSocket>(this)
})
expectError(eagerTls.connect())
expectError(eagerTls.connect(5n))

// What it returns goes wherever a socket of node goes.
const socket = eagerTls.connect(raw)
expectAssignable<tls.TLSSocket>(socket)
expectAssignable<net.Socket>(socket)
expectAssignable<Duplex>(socket)
expectType<boolean>(socket.isSessionReused())
http2.connect('https://h', { createConnection: () => socket })

// Options: node's and ours
const options: tls.ConnectionOptions = { ca, servername: 's', minDHSize: 1 }
eagerTls.connect(options)
eagerTls.connect(raw, options)
eagerTls.connect({
  socket: raw,
  singleUse: true,
  sessionReuse: false,
  handshakeTimeout: 1000,
  transport: 'fd',
  offload: 'never',
  keepAlive: true,
  keepAliveInitialDelay: 5,
  noDelay: true,
  timeout: 5,
  signal: new AbortController().signal,
  ALPNProtocols: ['h2'],
  checkServerIdentity: () => undefined,
  autoSelectFamily: true,
  requestOCSP: true,
  localAddress: '127.0.0.1'
})
eagerTls.connect({ socket: raw, singleUse: undefined, transport: undefined })
expectError(eagerTls.connect({ socket: raw, singleUse: 1 }))
expectError(eagerTls.connect({ socket: raw, transport: 'tcp' }))
expectError(eagerTls.connect({ socket: raw, offload: true }))
expectError(eagerTls.connect({ socket: raw, singleuse: true }))
expectError(eagerTls.connect({ socket: {} }))

// connectAsync
expectType<Promise<eagerTls.TLSSocket>>(eagerTls.connectAsync({ socket: raw }))
expectType<Promise<eagerTls.TLSSocket>>(eagerTls.connectAsync(raw, { ca }))
expectType<Promise<eagerTls.TLSSocket>>(eagerTls.connectAsync(1, 'h', { ca }))
expectError(eagerTls.connectAsync({ socket: raw }, () => {}))

// Contexts
const context = eagerTls.createSecureContext({ ca, singleUse: true })
expectType<eagerTls.SecureContext>(context)
expectAssignable<tls.SecureContext>(context)
expectType<void>(context.close())
eagerTls.connect({ socket: raw, secureContext: context })
eagerTls.connect({ socket: raw, secureContext: tls.createSecureContext() })
tls.connect({ socket: raw, secureContext: context })
eagerTls.createSecureContext()
expectError(eagerTls.createSecureContext({ singleUse: 'yes' }))

// Settings
const settings = eagerTls.configure({
  contexts: { max: 5 }, sessions: { enabled: false }, offload: 'auto'
})
expectType<eagerTls.Settings>(settings)
expectType<number>(settings.contexts.idleTimeout)
eagerTls.configure()
eagerTls.configure(settings)
expectError(eagerTls.configure({ contexts: { maximum: 5 } }))
expectError(eagerTls.configure({ offload: 'sometimes' }))

// Statistics
const stats = eagerTls.stats()
expectType<eagerTls.Stats>(stats)
expectType<number>(stats.contexts.live)
expectType<number>(stats.sessions.resumed)
expectType<'native' | 'node'>(stats.backend)
expectType<void>(eagerTls.clear())

// The rest
expectType<'native' | 'node'>(eagerTls.backend)
expectType<string | null>(eagerTls.backendReason)
expectType<typeof tls.checkServerIdentity>(eagerTls.checkServerIdentity)
expectType<readonly string[]>(eagerTls.rootCertificates)
expectType<string[]>(eagerTls.getCiphers())
expectAssignable<string>(eagerTls.DEFAULT_CIPHERS)
expectAssignable<eagerTls.EagerErrorCode>('ERR_EAGER_TLS_TRANSPORT')
expectError(eagerTls.nothing)
expectType<void>(restore())
