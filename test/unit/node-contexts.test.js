'use strict'

const assert = require('node:assert/strict')
const { subscribe, unsubscribe } = require('node:diagnostics_channel')

const certs = require('../support/certs')
const { NodeContexts } = require('../../lib/node-contexts')

const { ca } = certs

/** A cache with a clock of its own. */
function makeCache (settings = {}) {
  const clock = { now: 0 }
  const cache = new NodeContexts(() => clock.now)
  cache.configure({ max: 10, idleTimeout: 100, ...settings })
  return { cache, clock }
}

/** Distinct options by number. */
const options = (number) => ({ ca, sessionTimeout: number })

describe('the contexts of the node backend', () => {
  it('are shared by content', () => {
    const { cache } = makeCache()
    const first = cache.acquire({ ca: Buffer.from(ca) }, false)
    const second = cache.acquire({ ca: String(ca) }, false)
    assert.equal(first, second)
    assert.deepEqual(cache.counts, {
      live: 1, cached: 1, singleUse: 0, created: 1, hits: 1, misses: 1, evicted: 0
    })
  })

  it('stay after their last connection, for the next one', () => {
    const { cache } = makeCache()
    const entry = cache.acquire({ ca }, false)
    cache.release(entry)
    assert.equal(cache.counts.live, 1)
    assert.equal(cache.acquire({ ca }, false), entry)
    assert.equal(cache.counts.created, 1)
  })

  it('are closed at once if they are for a single use', () => {
    const { cache } = makeCache()
    const entry = cache.acquire({ ca }, true)
    const other = cache.acquire({ ca }, true)
    assert.notEqual(entry, other)
    assert.equal(cache.counts.singleUse, 2)
    assert.equal(cache.counts.cached, 0)
    let closed = 0
    const { close } = entry.native
    entry.native.close = function () {
      closed++
      close.call(this)
    }
    cache.release(entry)
    assert.equal(closed, 1)
    cache.release(other)
    assert.deepEqual(cache.counts, {
      live: 0, cached: 0, singleUse: 0, created: 2, hits: 0, misses: 0, evicted: 0
    })
  })

  it('go when there are too many, least recently used first', () => {
    const { cache } = makeCache({ max: 2 })
    for (const number of [1, 2]) cache.release(cache.acquire(options(number), false))
    cache.release(cache.acquire(options(1), false))
    cache.release(cache.acquire(options(3), false))
    assert.equal(cache.counts.evicted, 1)
    cache.release(cache.acquire(options(1), false))
    cache.release(cache.acquire(options(3), false))
    assert.equal(cache.counts.created, 3)
    cache.release(cache.acquire(options(2), false))
    assert.equal(cache.counts.created, 4)
    assert.equal(cache.counts.live, 2)
  })

  it('live until their last connection when they were evicted', () => {
    const { cache } = makeCache({ max: 1 })
    const entry = cache.acquire(options(1), false)
    cache.release(cache.acquire(options(2), false))
    assert.deepEqual([cache.counts.cached, cache.counts.live], [1, 2])
    cache.release(entry)
    assert.deepEqual([cache.counts.cached, cache.counts.live], [1, 1])
  })

  it('go when nobody has used them for a while', () => {
    const { cache, clock } = makeCache({ idleTimeout: 100 })
    const busy = cache.acquire(options(1), false)
    cache.release(cache.acquire(options(2), false))
    clock.now = 99
    cache.expire()
    assert.equal(cache.counts.cached, 2)
    clock.now = 100
    cache.expire()
    assert.equal(cache.counts.cached, 1)
    cache.release(busy)
    clock.now = 199
    cache.expire()
    assert.equal(cache.counts.cached, 1)
    clock.now = 200
    cache.expire()
    assert.deepEqual([cache.counts.cached, cache.counts.live], [0, 0])
  })

  it('go when they are cleared, unless somebody uses them', () => {
    const { cache } = makeCache()
    const busy = cache.acquire(options(1), false)
    cache.release(cache.acquire(options(2), false))
    cache.clear()
    assert.deepEqual([cache.counts.cached, cache.counts.evicted], [1, 1])
    cache.release(busy)
    cache.clear()
    assert.deepEqual([cache.counts.live, cache.counts.evicted], [0, 2])
  })

  it('are not cached if none may be', () => {
    const { cache } = makeCache({ max: 0 })
    const first = cache.acquire({ ca }, false)
    assert.notEqual(cache.acquire({ ca }, false), first)
    assert.equal(cache.counts.cached, 0)
    cache.release(first)
    assert.equal(cache.counts.live, 1)
  })

  it('are evicted at once when the bound is lowered', () => {
    const { cache } = makeCache({ max: 3 })
    for (const number of [1, 2, 3]) {
      cache.release(cache.acquire(options(number), false))
    }
    cache.configure({ max: 1, idleTimeout: 100 })
    assert.deepEqual([cache.counts.cached, cache.counts.live], [1, 1])
  })

  it('leave nothing behind if they cannot be built', () => {
    const { cache } = makeCache()
    for (const singleUse of [true, false]) {
      assert.throws(() => cache.acquire({ ca, cert: 'x' }, singleUse),
        { code: 'ERR_OSSL_PEM_NO_START_LINE' })
    }
    assert.deepEqual([cache.counts.live, cache.counts.cached], [0, 0])
  })

  it('tell their lives on the channel', () => {
    const events = []
    const onMessage = ({ event, key }) => events.push([event, key])
    subscribe('eager-tls:context', onMessage)
    const { cache } = makeCache()
    cache.release(cache.acquire({ ca }, false))
    cache.clear()
    unsubscribe('eager-tls:context', onMessage)
    const [[, key]] = events
    assert.match(key, /^[0-9a-f]{16}$/)
    assert.deepEqual(events,
      [['created', key], ['evicted', key], ['freed', key]])
  })
})
