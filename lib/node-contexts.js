'use strict'

/**
 * The cache of contexts of the node backend, with the semantics of the core's:
 * digest -> node's own SecureContext, bounded, least recently used goes first,
 * unused ones go after a while. The cache holds one reference on each, every
 * connection and every SecureContext object another; a context is closed with
 * the last one, not by the garbage collector.
 */

const { contextDigest } = require('./context-key')
const { publishContext } = require('./diagnostics')
const { createSecureContext } = require('./node-originals')
const { defaultRoots, flattenContextOptions } = require('./options')

const NO_DIGEST = Buffer.alloc(0)
const DELAY_MIN = 1000

/** One of node's contexts and those who need it. */
class Entry {
  /** @param {Buffer | null} digest null: made of options that have none */
  constructor (secureContext, digest, singleUse) {
    this.secureContext = secureContext
    this.native = secureContext.context
    this.digest = digest
    this.key = digest === null ? null : digest.toString('latin1')
    this.singleUse = singleUse
    this.references = 1
    this.lastUsed = 0
  }
}

class NodeContexts {
  #entries = new Map() // key -> Entry, least recently used first
  #max = 0
  #idleTimeout = 0
  #timer = null
  #now
  #counts = {
    live: 0, singleUse: 0, created: 0, hits: 0, misses: 0, evicted: 0
  }

  /** @param {() => number} [now] a monotonic clock, in milliseconds */
  constructor (now = () => performance.now()) {
    this.#now = now
  }

  /** Takes effect at once: surplus contexts are evicted. */
  configure ({ max, idleTimeout }) {
    this.#max = max
    this.#idleTimeout = idleTimeout
    this.#trim()
    clearTimeout(this.#timer)
    this.#timer = null
    this.#watchIdle()
  }

  get counts () {
    const { live, singleUse, created, hits, misses, evicted } = this.#counts
    const cached = this.#entries.size
    return { live, cached, singleUse, created, hits, misses, evicted }
  }

  /**
   * The context for these options, with a reference for the caller.
   *
   * @param {object} options as createSecureContext takes them
   * @param {boolean} singleUse a context that nobody else gets
   * @returns {Entry}
   */
  acquire (options, singleUse) {
    const { fields, unsupported } = flattenContextOptions(options)
    if (unsupported !== null) return this.#create(options, null, singleUse)
    const digest = contextDigest(fields, defaultRoots())
    if (singleUse) return this.#create(options, digest, true)
    const cached = this.#entries.get(digest.toString('latin1'))
    if (cached !== undefined) {
      this.#counts.hits++
      this.#touch(cached)
      return this.retain(cached)
    }
    this.#counts.misses++
    const entry = this.#create(options, digest, false)
    this.#insert(entry)
    return entry
  }

  /** Another reference. */
  retain (entry) {
    entry.references++
    return entry
  }

  /** Gives one reference back; the last one closes the context. */
  release (entry) {
    if (--entry.references > 0) {
      this.#touch(entry)
      this.#watchIdle()
      return
    }
    this.#counts.live--
    if (entry.singleUse) this.#counts.singleUse--
    entry.native.close?.()
    publishContext('freed', entry.digest ?? NO_DIGEST)
  }

  /** Evicts all that nobody else references. */
  clear () {
    for (const entry of [...this.#entries.values()]) {
      if (entry.references === 1) this.#evict(entry)
    }
  }

  /** Evicts what nobody else references and nobody has used for a while. */
  expire () {
    const limit = this.#now() - this.#idleTimeout
    for (const entry of [...this.#entries.values()]) {
      if (entry.references === 1 && entry.lastUsed <= limit) this.#evict(entry)
    }
  }

  #create (options, digest, singleUse) {
    const secureContext = createSecureContext(options)
    // Since 24 node would close it itself, but too early where it tries one
    // address after the other.
    if (secureContext.singleUse) secureContext.singleUse = false
    const entry = new Entry(secureContext, digest, singleUse)
    this.#counts.live++
    this.#counts.created++
    if (singleUse) this.#counts.singleUse++
    publishContext('created', digest ?? NO_DIGEST)
    return entry
  }

  #insert (entry) {
    if (this.#max === 0) return
    this.#entries.set(entry.key, this.retain(entry))
    this.#touch(entry)
    this.#trim()
  }

  /** Notes a use: the entry goes to the end of the line. */
  #touch (entry) {
    entry.lastUsed = this.#now()
    if (this.#entries.get(entry.key) === entry) {
      this.#entries.delete(entry.key)
      this.#entries.set(entry.key, entry)
    }
  }

  #trim () {
    while (this.#entries.size > this.#max) {
      const [entry] = this.#entries.values()
      this.#evict(entry)
    }
  }

  #evict (entry) {
    this.#entries.delete(entry.key)
    this.#counts.evicted++
    publishContext('evicted', entry.digest)
    this.release(entry)
  }

  /** Looks for idle contexts when the first may be due; one timer, which
   * keeps no process alive. */
  #watchIdle () {
    if (this.#timer !== null || this.#entries.size === 0) return
    let first = this.#now()
    for (const entry of this.#entries.values()) {
      if (entry.references === 1 && entry.lastUsed < first) {
        first = entry.lastUsed
      }
    }
    const delay = Math.ceil(first + this.#idleTimeout - this.#now())
    this.#timer = setTimeout(() => {
      this.#timer = null
      this.expire()
      this.#watchIdle()
    }, Math.max(delay, DELAY_MIN))
    this.#timer.unref?.()
  }
}

module.exports = { NodeContexts }
