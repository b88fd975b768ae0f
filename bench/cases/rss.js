'use strict'

const { upgrades } = require('../lib/upgrades')

const MB = 2 ** 20

// V8 grows too while sockets come and go, so that the yardstick is the same
// script without TLS: `plain` for node's contenders, `plain-loaded` for those
// that have this package in memory. The collector is left alone.
module.exports = {
  title: 'RSS after 10,000 upgrades, one after the other',
  metrics: {
    rss: ['RSS at the end', 'MB'],
    growth: ['of it, since the first upgrade', 'MB'],
    heapUsed: ['JavaScript heap at the end', 'MB']
  },
  contenders: [
    'plain', 'plain-loaded', 'node-own', 'node-shared', 'eager-fd',
    'eager-stream', 'eager-node'
  ],
  count: 10_000,
  smoke: 20,
  rounds: 5,
  fresh: true,
  variants: {
    cached: { resume: true },
    'cached, full handshakes': { resume: false },
    'single-use': { resume: false, singleUse: true }
  },
  warmUp: (bench) => upgrades(bench, 1),
  async round (bench, count) {
    const start = process.memoryUsage.rss()
    await upgrades(bench, count)
    const { rss, heapUsed } = process.memoryUsage()
    return {
      rss: rss / MB, growth: (rss - start) / MB, heapUsed: heapUsed / MB
    }
  }
}
