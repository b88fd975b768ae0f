'use strict'

/**
 * How fast something grows, and how sure that is.
 *
 * Memory samples hang together over many cycles (pages come in steps, the
 * collector in waves), so that the usual interval of a regression would be far
 * too narrow. The samples are joined to blocks; the line is fitted through the
 * means of these (the method of batch means).
 */

const BLOCKS = 12

// Student's t, two-sided 95 %, by degrees of freedom.
const T95 = [
  NaN, 12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228
]

const mean = (values) => values.reduce((sum, v) => sum + v, 0) / values.length

function blockMeans (points, blocks) {
  const means = []
  for (let i = 0; i < blocks; i++) {
    const from = Math.floor(i * points.length / blocks)
    const to = Math.floor((i + 1) * points.length / blocks)
    const part = points.slice(from, to)
    means.push([mean(part.map(([x]) => x)), mean(part.map(([, y]) => y))])
  }
  return means
}

/**
 * @param {[number, number][]} points
 * @returns {{ slope: number, low: number, high: number } | null} with the 95 %
 *   confidence interval; null for fewer than four points
 */
function fitSlope (points) {
  if (points.length < 4) return null
  const means = blockMeans(points, Math.min(BLOCKS, points.length))
  const x0 = mean(means.map(([x]) => x))
  const y0 = mean(means.map(([, y]) => y))
  const xx = means.reduce((sum, [x]) => sum + (x - x0) ** 2, 0)
  const xy = means.reduce((sum, [x, y]) => sum + (x - x0) * (y - y0), 0)
  const slope = xy / xx
  const rest = means.reduce((sum, [x, y]) =>
    sum + (y - y0 - slope * (x - x0)) ** 2, 0)
  const freedom = means.length - 2
  const half = T95[freedom] * Math.sqrt(rest / freedom / xx)
  return { slope, low: slope - half, high: slope + half }
}

module.exports = { fitSlope }
