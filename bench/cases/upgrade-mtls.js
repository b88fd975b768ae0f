'use strict'

const { metrics, round, warmUp } = require('../lib/upgrades')

module.exports = {
  title: 'Upgrade with a client certificate',
  metrics,
  contenders: [
    'node-own', 'node-shared', 'node-shared-sessions', 'eager-fd',
    'eager-stream', 'eager-node', 'bun', 'floor'
  ],
  count: 300,
  smoke: 3,
  variants: {
    full: { resume: false, floor: ['upgrade', 'full'] },
    resumed: { resume: true, floor: ['upgrade', 'resumed'] }
  },
  wants: { mtls: true },
  warmUp,
  round
}
