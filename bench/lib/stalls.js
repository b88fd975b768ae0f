'use strict'

const { monitorEventLoopDelay } = require('node:perf_hooks')

/**
 * Watches how long the event loop is kept from its timers.
 *
 * @returns {() => { worst: number, p99: number }} stops; milliseconds
 */
function watchStalls () {
  const delays = monitorEventLoopDelay({ resolution: 1 })
  delays.enable()
  return () => {
    delays.disable()
    return { worst: delays.max / 1e6, p99: delays.percentile(99) / 1e6 }
  }
}

module.exports = { watchStalls }
