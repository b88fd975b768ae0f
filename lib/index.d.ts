/// <reference types="node" />

/**
 * TLS for sockets that are already connected, and for all others: the API of
 * `node:tls`'s client half on a native core that shares contexts by content
 * and frees them at once.
 */

import * as net from 'node:net'
import { Duplex } from 'node:stream'
import * as tls from 'node:tls'

/** How ciphertext travels. */
export type Transport = 'auto' | 'fd' | 'stream'

/** Whether handshake cryptography runs off the event loop. */
export type Offload = 'auto' | 'always' | 'never'

/** The options that `node:tls` does not have, or ignores on an upgrade. */
export interface EagerOptions {
  /**
   * A context of this connection's own, never cached or shared, freed
   * synchronously when the socket closes, before its `'close'` event. Without
   * effect next to `secureContext`.
   *
   * @default false
   */
  singleUse?: boolean | undefined

  /**
   * `false`: neither offer nor store a session for this connection. An
   * explicit `session` always wins over the store.
   *
   * @default true; false over a Duplex that is no `net.Socket`
   */
  sessionReuse?: boolean | undefined

  /**
   * Milliseconds from the upgrade to `'secureConnect'`; then the socket is
   * destroyed with `ERR_TLS_HANDSHAKE_TIMEOUT`. 0: no limit.
   *
   * @default 0
   */
  handshakeTimeout?: number | undefined

  /**
   * `'fd'`: the native core reads and writes the socket's descriptor itself.
   * `'stream'`: ciphertext goes through the Duplex. `'auto'`: `'fd'` where it
   * can be. `'fd'` where it cannot: throws `ERR_EAGER_TLS_TRANSPORT`, or emits
   * it if that shows only later.
   *
   * @default 'auto'
   */
  transport?: Transport | undefined

  /**
   * Whether handshake cryptography runs off the event loop. In this version
   * it never does, whatever is asked for.
   *
   * @default what configure() says
   */
  offload?: Offload | undefined

  /** Honoured on the upgrade too. */
  keepAlive?: boolean | undefined

  /** Milliseconds. Honoured on the upgrade too. */
  keepAliveInitialDelay?: number | undefined

  /** Honoured on the upgrade too. */
  noDelay?: boolean | undefined

  /** Milliseconds of idleness. Honoured on the upgrade too. */
  timeout?: number | undefined
}

/** All options of `tls.connect()` and `tls.createSecureContext()`, and ours. */
export interface ConnectionOptions
  extends Omit<tls.ConnectionOptions, keyof EagerOptions | 'socket'>,
  EagerOptions,
  Omit<Partial<net.TcpSocketConnectOpts>, keyof tls.ConnectionOptions | keyof EagerOptions> {
  /** The raw socket to be upgraded: any Duplex. None: one is opened. */
  socket?: Duplex | null | undefined

  allowHalfOpen?: boolean | undefined
  highWaterMark?: number | undefined
  requestOCSP?: boolean | undefined
  signal?: AbortSignal | undefined
}

export interface SecureContextOptions extends tls.SecureContextOptions {
  /** A context that nobody else gets for the same options. */
  singleUse?: boolean | undefined
}

/** A reference on the cached context for some options. */
export interface SecureContext extends tls.SecureContext {
  /**
   * Gives the reference back at once. Connections that use the context live
   * on. Idempotent.
   */
  close (): void
}

/** A TLS socket of this package: a `tls.TLSSocket` in every respect. */
export class TLSSocket extends tls.TLSSocket {}

type Callback = (this: TLSSocket) => void

/** As `tls.connect()`; with `options.socket` the upgrade of a raw socket. */
export function connect (options: ConnectionOptions, callback?: Callback): TLSSocket
/** The upgrade of a raw socket. */
export function connect (socket: Duplex, callback?: Callback): TLSSocket
export function connect (socket: Duplex, options?: ConnectionOptions, callback?: Callback): TLSSocket
/** As `tls.connect()`. */
export function connect (port: number, host?: string, options?: ConnectionOptions, callback?: Callback): TLSSocket
export function connect (port: number, host: string, callback?: Callback): TLSSocket
export function connect (port: number, options?: ConnectionOptions, callback?: Callback): TLSSocket
export function connect (port: number, callback?: Callback): TLSSocket
/** As `tls.connect()`, to a Unix domain socket or a named pipe. */
export function connect (path: string, callback?: Callback): TLSSocket
export function connect (path: string, options?: ConnectionOptions, callback?: Callback): TLSSocket

/**
 * connect() as a promise: resolves on `'secureConnect'`; on an error, or when
 * `options.signal` aborts, rejects, and the socket is destroyed.
 */
export function connectAsync (options: ConnectionOptions): Promise<TLSSocket>
export function connectAsync (socket: Duplex, options?: ConnectionOptions): Promise<TLSSocket>
export function connectAsync (port: number, host?: string, options?: ConnectionOptions): Promise<TLSSocket>
export function connectAsync (port: number, options?: ConnectionOptions): Promise<TLSSocket>
export function connectAsync (path: string, options?: ConnectionOptions): Promise<TLSSocket>

/** Takes a reference on the cached context for these options. */
export function createSecureContext (options?: SecureContextOptions): SecureContext

/** The settings of this environment (thread). */
export interface Settings {
  contexts: {
    /** Cached contexts kept. @default 256 */
    max: number
    /** Milliseconds that an unused one stays. @default 300000 */
    idleTimeout: number
  }
  sessions: {
    /** @default true */
    enabled: boolean
    /** Peers of which sessions are kept. @default 1024 */
    maxPeers: number
    /** Sessions kept of each. @default 8 */
    perPeer: number
    /** Milliseconds that a session is kept. @default 7200000 */
    timeout: number
  }
  /** @default 'auto' */
  offload: Offload
}

export interface SettingsChange {
  contexts?: Partial<Settings['contexts']> | undefined
  sessions?: Partial<Settings['sessions']> | undefined
  offload?: Offload | undefined
}

/**
 * Changes settings of this environment.
 *
 * @returns the settings in force, as an object of the caller's own
 * @throws `ERR_OUT_OF_RANGE`, `ERR_INVALID_ARG_TYPE`, `ERR_INVALID_ARG_VALUE`;
 *   nothing is changed then
 */
export function configure (changes?: SettingsChange): Settings

export interface Stats {
  backend: Backend
  /** Version of OpenSSL in use. */
  openssl: string
  contexts: {
    /** Allocated by this package right now. */
    live: number
    /** Of these, in the cache. */
    cached: number
    /** Of these, for a single use. */
    singleUse: number
    created: number
    hits: number
    misses: number
    evicted: number
  }
  connections: {
    /** Allocated by this package right now. */
    live: number
    opened: number
    handshaking: number
    fd: number
    stream: number
  }
  sessions: {
    stored: number
    peers: number
    offered: number
    resumed: number
    rejected: number
  }
  offload: {
    tasks: number
    inFlight: number
  }
  /** Connections handed to `node:tls`. */
  fallbacks: number
}

/** What this package does right now in this environment; costs nothing. */
export function stats (): Stats

/** Forgets idle cached contexts and all stored sessions. */
export function clear (): void

export type Backend = 'native' | 'node'

/** What carries the connections. */
export const backend: Backend

/** `null`, or in one sentence why the backend is `'node'`. */
export const backendReason: string | null

/** A message of the diagnostics channel `eager-tls:handshake`. */
export interface HandshakeMessage {
  servername: string | null
  protocol: string | null
  cipher: string | null
  reused: boolean
  backend: Backend
  transport: string | null
  durationMs: number
  error: Error | null
}

/** A message of the diagnostics channel `eager-tls:context`. */
export interface ContextMessage {
  event: 'created' | 'evicted' | 'freed'
  /** The first 16 hexadecimal digits of the context's digest. */
  key: string
}

/** The codes of the errors that `node:tls` does not have. */
export type EagerErrorCode =
  | 'ERR_EAGER_TLS_LEFTOVER_PLAINTEXT'
  | 'ERR_EAGER_TLS_TRANSPORT'
  | 'ERR_EAGER_TLS_CONTEXT_CLOSED'
  | 'ERR_EAGER_TLS_INTERNAL'

// node:tls's own.
export const checkServerIdentity: typeof tls.checkServerIdentity
export const getCiphers: typeof tls.getCiphers
export const rootCertificates: typeof tls.rootCertificates
export const DEFAULT_CIPHERS: typeof tls.DEFAULT_CIPHERS
export const DEFAULT_ECDH_CURVE: typeof tls.DEFAULT_ECDH_CURVE
export const DEFAULT_MAX_VERSION: typeof tls.DEFAULT_MAX_VERSION
export const DEFAULT_MIN_VERSION: typeof tls.DEFAULT_MIN_VERSION
