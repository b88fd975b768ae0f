'use strict'

const { metrics, round, warmUp } = require('../lib/upgrades')

module.exports = {
  title: 'Upgrade with a full handshake: connect, upgrade, ping, close',
  metrics,
  contenders: [
    'node-own', 'node-shared', 'eager-fd', 'eager-stream', 'eager-node', 'bun',
    'floor'
  ],
  count: 1500,
  smoke: 5,
  wants: { resume: false },
  floor: ['upgrade', 'full'],
  warmUp,
  round
}
