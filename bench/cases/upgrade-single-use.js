'use strict'

const { metrics, round, warmUp } = require('../lib/upgrades')

/** None of the contexts of this package outlives its connection. */
function checkNothingLeft (contender) {
  if (!contender.startsWith('eager-')) return
  const { live } = require('../..').stats().contexts
  if (live !== 0) throw new Error(`${live} contexts are left`)
}

module.exports = {
  title: 'Upgrade with a context of its own, freed with the connection',
  metrics,
  contenders: ['node-own', 'eager-fd', 'eager-stream', 'eager-node', 'bun'],
  count: 300,
  smoke: 3,
  wants: { resume: false, singleUse: true },
  warmUp,
  async round (bench, count) {
    const cost = await round(bench, count)
    checkNothingLeft(bench.contender)
    return cost
  }
}
