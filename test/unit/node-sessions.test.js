'use strict'

const assert = require('node:assert/strict')

const { NodeSessions } = require('../../lib/node-sessions')

const SETTINGS = { enabled: true, maxPeers: 3, perPeer: 3, timeout: 1000 }

function makeStore (settings = {}) {
  const clock = { now: 0 }
  const store = new NodeSessions(() => clock.now)
  store.configure({ ...SETTINGS, ...settings })
  const put = (key, name, protocol = 'TLSv1.3', notAfter = Infinity) =>
    store.put(key, { session: name, protocol, notAfter })
  const take = (key) => store.take(key)?.session
  return { clock, put, store, take }
}

describe('the sessions of the node backend', () => {
  it('give TLS 1.3 tickets once each, fresh ones first', () => {
    const { put, take } = makeStore()
    for (const name of ['a', 'b', 'c']) put('peer', name)
    assert.deepEqual([take('peer'), take('peer'), take('peer')],
      ['c', 'b', 'a'])
  })

  it('give the last ticket of a peer again until a fresh one comes', () => {
    const { put, take, store } = makeStore()
    put('peer', 'a')
    assert.deepEqual([take('peer'), take('peer')], ['a', 'a'])
    put('peer', 'b')
    assert.equal(store.counts.stored, 1)
    assert.deepEqual([take('peer'), take('peer')], ['b', 'b'])
  })

  it('give TLS 1.2 sessions again and again, the newest', () => {
    const { put, take } = makeStore()
    put('peer', 'a', 'TLSv1.2')
    put('peer', 'b', 'TLSv1.2')
    assert.deepEqual([take('peer'), take('peer')], ['b', 'b'])
  })

  it('know each peer by its whole key', () => {
    const { put, take } = makeStore()
    put('peer', 'a')
    assert.equal(take('peer '), undefined)
    assert.equal(take('pee'), undefined)
    assert.equal(take('peer'), 'a')
  })

  it('drop the oldest of a peer', () => {
    const { put, take, store } = makeStore({ perPeer: 2 })
    for (const name of ['a', 'b', 'c']) put('peer', name)
    assert.equal(store.counts.stored, 2)
    assert.deepEqual([take('peer'), take('peer')], ['c', 'b'])
  })

  it('drop the peer that was not used for the longest time', () => {
    const { put, take, store } = makeStore({ maxPeers: 2 })
    put('a', '1', 'TLSv1.2')
    put('b', '2', 'TLSv1.2')
    take('a')
    put('c', '3', 'TLSv1.2')
    assert.equal(store.counts.peers, 2)
    assert.deepEqual([take('a'), take('b'), take('c')], ['1', undefined, '3'])
  })

  it('end with their time', () => {
    const { clock, put, take, store } = makeStore({ timeout: 1000 })
    put('peer', 'a')
    clock.now = 999
    assert.equal(take('peer'), 'a')
    clock.now = 1000
    assert.equal(take('peer'), undefined)
    assert.deepEqual(store.counts,
      { stored: 0, peers: 0, offered: 1, resumed: 0, rejected: 0 })
  })

  it('end with the certificates that they were verified by', () => {
    const { clock, put, take } = makeStore({ timeout: 1000 })
    put('peer', 'a', 'TLSv1.2', 500)
    clock.now = 499
    assert.equal(take('peer'), 'a')
    clock.now = 500
    assert.equal(take('peer'), undefined)
    put('other', 'b', 'TLSv1.2', 0)
    assert.equal(take('other'), undefined)
  })

  it('are forgotten when they were rejected', () => {
    const { put, store, take } = makeStore()
    put('peer', 'a')
    put('peer', 'b', 'TLSv1.2')
    const ticket = store.take('peer')
    assert.equal(ticket.session, 'b')
    store.rejected('peer', ticket)
    assert.equal(take('peer'), 'a')
    store.rejected('peer', store.take('peer'))
    assert.equal(take('peer'), undefined)
    assert.equal(store.counts.peers, 0)
  })

  it('of a peer are all forgotten when a handshake has failed', () => {
    const { put, store, take } = makeStore()
    put('peer', 'a')
    put('peer', 'b')
    take('peer')
    store.failed('peer')
    assert.equal(take('peer'), undefined)
    assert.deepEqual(store.counts,
      { stored: 0, peers: 0, offered: 1, resumed: 0, rejected: 1 })
  })

  it('are counted', () => {
    const { put, store } = makeStore()
    put('a', '1')
    put('a', '2')
    put('b', '3')
    store.take('a')
    store.accepted()
    assert.deepEqual(store.counts,
      { stored: 2, peers: 2, offered: 1, resumed: 1, rejected: 0 })
  })

  it('are neither kept nor given while they are off', () => {
    for (const settings of [{ enabled: false }, { maxPeers: 0 },
      { perPeer: 0 }]) {
      const { put, store, take } = makeStore()
      put('peer', 'a')
      store.configure({ ...SETTINGS, ...settings })
      assert.equal(store.enabled, false)
      assert.equal(take('peer'), undefined)
      put('peer', 'b')
      assert.deepEqual([store.counts.stored, store.counts.peers], [0, 0])
    }
  })

  it('are cut down when the bounds are lowered', () => {
    const { put, store, take } = makeStore()
    for (const name of ['a', 'b', 'c']) put('one', name)
    put('two', 'd')
    store.configure({ ...SETTINGS, perPeer: 1 })
    assert.equal(store.counts.stored, 2)
    store.configure({ ...SETTINGS, maxPeers: 1 })
    assert.deepEqual([take('one'), take('two')], [undefined, 'd'])
  })
})
