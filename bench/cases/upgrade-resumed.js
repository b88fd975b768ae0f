'use strict'

const { metrics, round, warmUp } = require('../lib/upgrades')

// Those that cannot resume take part with full handshakes: it is what their
// users get.
module.exports = {
  title: 'Upgrade with a resumed session: connect, upgrade, ping, close',
  metrics,
  contenders: [
    'node-own', 'node-shared', 'node-shared-sessions', 'eager-fd',
    'eager-stream', 'eager-node', 'eager-bare', 'bun', 'floor'
  ],
  count: 1500,
  smoke: 5,
  wants: { resume: true },
  floor: ['upgrade', 'resumed'],
  warmUp,
  round
}
