'use strict'

const path = require('node:path')
const { Child } = require('./child')
const { fitSlope } = require('./slope')

const client = path.join(__dirname, 'leak-client.js')

// KB per cycle; less than this in thousands of cycles is not told from chance.
const NOTHING = 0.05

/**
 * Runs one contender to the end.
 *
 * @param {object} plan { contender, cycles, interval, node, env, settings }
 * @param {(done: number) => void} onStep
 * @returns {Promise<object[]>} samples, the first one before any cycle
 */
async function runContender (plan, onStep) {
  const { contender, cycles, interval, node, env, settings } = plan
  const child = new Child([
    node, client, JSON.stringify({ ...settings, contender })
  ], { env })
  const samples = []
  try {
    samples.push({ cycle: 0, ...await child.ask({ count: 0 }) })
    for (let cycle = 0; cycle < cycles;) {
      const count = Math.min(interval, cycles - cycle)
      const sample = await child.ask({ count })
      cycle += count
      samples.push({ cycle, ...sample })
      onStep(count)
    }
  } finally {
    await child.close()
  }
  return samples
}

/** RSS in KB by cycle, without the warm-up. */
function afterWarmUp (samples, part) {
  const from = samples.at(-1).cycle * part
  return samples.filter(({ cycle }) => cycle >= from)
    .map(({ cycle, rss }) => [cycle, rss / 1024])
}

/**
 * What the curve of RSS says.
 *
 * @param {object[]} samples
 * @param {{ warmUp: number, plain: object | null }} options plain: the fit of
 *   the run without TLS
 * @returns {{ fit: object | null, text: string, grows: boolean }}
 */
function judge (samples, { warmUp, plain }) {
  const fit = fitSlope(afterWarmUp(samples, warmUp))
  if (fit === null) return { fit, grows: false, text: 'too few samples' }
  if (fit.low <= 0 || fit.slope < NOTHING) {
    return { fit, grows: false, text: 'flat' }
  }
  const text = `grows by ${fit.slope.toFixed(2)} KB per cycle`
  if (plain && fit.low <= plain.high && fit.slope <= plain.high) {
    return { fit, grows: false, text: `${text}, as plain TCP does` }
  }
  return { fit, grows: true, text }
}

module.exports = { judge, runContender }
