'use strict'

/**
 * Runs `work` and tells what it cost this process.
 *
 * @returns {Promise<{ cpu: number, wall: number }>} microseconds in all
 */
async function measure (work) {
  const cpu = process.cpuUsage()
  const start = process.hrtime.bigint()
  await work()
  const wall = Number(process.hrtime.bigint() - start) / 1000
  const { user, system } = process.cpuUsage(cpu)
  return { cpu: user + system, wall }
}

/** The same per operation. */
async function measureEach (count, work) {
  const { cpu, wall } = await measure(work)
  return { cpu: cpu / count, wall: wall / count }
}

module.exports = { measure, measureEach }
