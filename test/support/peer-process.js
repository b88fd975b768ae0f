'use strict'

/**
 * Peers live in processes of their own, so that what the tests see of a
 * connection can never be an effect of sharing an event loop, a thread or
 * OpenSSL's error queue with the other end.
 *
 * One process per role is forked on first use and serves every test of the
 * run; each `listen` makes a fresh server in it. The process does not keep the
 * test runner alive except while an answer is awaited, and it leaves by itself
 * when the runner's end of the channel closes.
 */

const { fork } = require('node:child_process')
const path = require('node:path')

const processes = new Map()

class PeerProcess {
  #child
  #nextId = 1
  #answers = new Map()
  #listeners = new Map()
  #pending = 0

  constructor () {
    this.#child = fork(path.join(__dirname, 'peer-child.js'), [], {
      execArgv: [],
      serialization: 'advanced'
    })
    this.#child.on('message', (message) => this.#onMessage(message))
    this.#child.unref()
    this.#child.channel.unref()
  }

  get pid () {
    return this.#child.pid
  }

  /** Sends one request and resolves with its answer. */
  request (op, body) {
    const id = this.#nextId++
    return this.awaiting(new Promise((resolve, reject) => {
      this.#answers.set(id, { resolve, reject })
      this.#child.send({ id, op, body })
    }))
  }

  /** Keeps the runner alive until `promise` settles. */
  async awaiting (promise) {
    if (this.#pending++ === 0) this.#child.channel.ref()
    try {
      return await promise
    } finally {
      if (--this.#pending === 0) this.#child.channel.unref()
    }
  }

  subscribe (serverId, listener) {
    this.#listeners.set(serverId, listener)
  }

  unsubscribe (serverId) {
    this.#listeners.delete(serverId)
  }

  #onMessage (message) {
    if (message.event) {
      this.#listeners.get(message.server)?.(message.event, message.value)
      return
    }
    const answer = this.#answers.get(message.id)
    this.#answers.delete(message.id)
    if (message.error) answer.reject(new Error(`peer: ${message.error}`))
    else answer.resolve(message.value)
  }
}

function peerProcess (role) {
  if (!processes.has(role)) processes.set(role, new PeerProcess())
  return processes.get(role)
}

/**
 * The parent's side of one server in a peer process: queues what the server
 * reports by the name of the event, in the order in which it happened.
 */
class PeerServer {
  #process
  #id
  #queues = new Map()
  #waiters = new Map()
  #closed = false

  /** Starts a server of `kind`; see peer-child.js for the kinds. */
  static async listen (role, kind, options, handler) {
    const process = peerProcess(role)
    const { id, address } = await process.request('listen', {
      kind,
      options,
      handler: handler === undefined ? null : String(handler)
    })
    return new PeerServer(process, id, address)
  }

  constructor (process, id, address) {
    this.#process = process
    this.#id = id
    this.port = address.port
    this.host = address.address
    this.path = address.path
    process.subscribe(id, (event, value) => this.#onEvent(event, value))
  }

  /** The next event of this name: one that waits already, or one to come. */
  next (event) {
    const queue = this.#queues.get(event)
    if (queue?.length > 0) return Promise.resolve(queue.shift())
    return this.#process.awaiting(new Promise((resolve) => {
      if (!this.#waiters.has(event)) this.#waiters.set(event, [])
      this.#waiters.get(event).push(resolve)
    }))
  }

  /** How many events of this name wait to be asked for. */
  waiting (event) {
    return this.#queues.get(event)?.length ?? 0
  }

  /** What the server saw of the next connection that closed. */
  connection () {
    return this.next('connection')
  }

  /** What a handler said with `peer.report(value)`. */
  report () {
    return this.next('report')
  }

  /** Runs `peer.on(name, ...)` listeners of the handlers of this server. */
  tell (name, value) {
    return this.#process.request('tell', { server: this.#id, name, value })
  }

  /** Asks the server itself, see the `ask` of its kind in peer-child.js. */
  ask (question) {
    return this.#process.request('ask', { server: this.#id, question })
  }

  async close () {
    if (this.#closed) return
    this.#closed = true
    await this.#process.request('close', { server: this.#id })
    this.#process.unsubscribe(this.#id)
  }

  #onEvent (event, value) {
    const waiter = this.#waiters.get(event)?.shift()
    if (waiter) {
      waiter(value)
      return
    }
    if (!this.#queues.has(event)) this.#queues.set(event, [])
    this.#queues.get(event).push(value)
  }
}

module.exports = { PeerServer }
