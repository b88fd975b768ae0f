'use strict'

/** The value below which `part` of the sorted numbers lie, interpolated. */
function quantile (sorted, part) {
  const at = (sorted.length - 1) * part
  const low = Math.floor(at)
  const high = Math.ceil(at)
  return sorted[low] + (sorted[high] - sorted[low]) * (at - low)
}

/**
 * @param {number[]} values
 * @returns {{ median: number, min: number, max: number, spread: number }}
 *   spread: half the range between the quartiles, in percent of the median
 */
function summarise (values) {
  const sorted = [...values].sort((a, b) => a - b)
  const median = quantile(sorted, 0.5)
  const range = quantile(sorted, 0.75) - quantile(sorted, 0.25)
  return {
    median,
    min: sorted[0],
    max: sorted.at(-1),
    spread: median === 0 ? 0 : range / 2 / Math.abs(median) * 100
  }
}

module.exports = { quantile, summarise }
