'use strict'

/**
 * The session store of the node backend: peer key -> tickets. TLS 1.3 tickets
 * are given out fresh ones first, each once, but for the last one of a peer;
 * TLS 1.2 sessions newest first, again and again. Least recently used peers
 * go first, and a peer's oldest tickets.
 */

const TLS_1_3 = 'TLSv1.3'

class NodeSessions {
  #peers = new Map() // key -> Ticket[], oldest ticket and peer first
  #settings = { enabled: false, maxPeers: 0, perPeer: 0, timeout: 0 }
  #counts = { offered: 0, resumed: 0, rejected: 0 }
  #now

  /** @param {() => number} [now] wall clock: certificates end by it */
  constructor (now = Date.now) {
    this.#now = now
  }

  configure (settings) {
    this.#settings = settings
    if (!settings.enabled) this.clear()
    while (this.#peers.size > settings.maxPeers) this.#dropOldestPeer()
    for (const [key, tickets] of this.#peers) {
      while (tickets.length > settings.perPeer) tickets.shift()
      if (tickets.length === 0) this.#peers.delete(key)
    }
  }

  get enabled () {
    const { enabled, maxPeers, perPeer } = this.#settings
    return enabled && maxPeers > 0 && perPeer > 0
  }

  get counts () {
    let stored = 0
    for (const tickets of this.#peers.values()) stored += tickets.length
    return { stored, peers: this.#peers.size, ...this.#counts }
  }

  clear () {
    this.#peers.clear()
  }

  /**
   * @param {string} key
   * @param {{ session: Buffer, protocol: string, notAfter: number }} ticket
   *   `notAfter`: when the first certificate of its chain expires, in ms
   */
  put (key, ticket) {
    if (!this.enabled) return
    const expires =
      Math.min(this.#now() + this.#settings.timeout, ticket.notAfter)
    const stored = { ...ticket, expires, used: false }
    // One that was used before is only kept for want of a fresh one.
    const tickets = (this.#peers.get(key) ?? []).filter(({ used }) => !used)
    tickets.push(stored)
    while (tickets.length > this.#settings.perPeer) tickets.shift()
    this.#peers.delete(key)
    this.#peers.set(key, tickets)
    if (this.#peers.size > this.#settings.maxPeers) this.#dropOldestPeer()
  }

  /**
   * A ticket to offer to this peer.
   *
   * @param {string} key
   * @returns {object | null} what was put
   */
  take (key) {
    if (!this.enabled) return null
    const now = this.#now()
    const tickets = this.#peers.get(key)?.filter(({ expires }) => expires > now)
    this.#peers.delete(key)
    if (tickets === undefined || tickets.length === 0) return null
    const ticket = tickets[tickets.length - 1]
    if (ticket.protocol === TLS_1_3) {
      if (tickets.length > 1) tickets.pop()
      ticket.used = true
    }
    this.#peers.set(key, tickets)
    this.#counts.offered++
    return ticket
  }

  /** The server took the ticket that was offered. */
  accepted () {
    this.#counts.resumed++
  }

  /**
   * The server did not take it.
   *
   * @param {string} key
   * @param {object} ticket
   */
  rejected (key, ticket) {
    this.#counts.rejected++
    const tickets = this.#peers.get(key)?.filter((other) => other !== ticket)
    if (tickets === undefined) return
    if (tickets.length === 0) this.#peers.delete(key)
    else this.#peers.set(key, tickets)
  }

  /**
   * The handshake that offered a ticket has failed: the next one is full.
   *
   * @param {string} key
   */
  failed (key) {
    this.#counts.rejected++
    this.#peers.delete(key)
  }

  #dropOldestPeer () {
    const [key] = this.#peers.keys()
    this.#peers.delete(key)
  }
}

module.exports = { NodeSessions }
