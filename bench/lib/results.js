'use strict'

/**
 * Reading bench/results: one file per case and major version of Node.
 */

const fs = require('node:fs')
const path = require('node:path')
const { names } = require('./cases')
const { quantile, summarise } = require('./summary')

const NAME = /^([a-z0-9-]+)\.node(\d+)\.json$/

/**
 * @param {string} dir
 * @returns {{ cases: Map<string, Map<number, object>>,
 *   leaks: { name: string, major: number, result: object }[] }}
 */
function readResults (dir) {
  const cases = new Map(names.map((name) => [name, new Map()]))
  const leaks = []
  for (const file of fs.readdirSync(dir).sort()) {
    const match = NAME.exec(file)
    if (match === null) continue
    const [, name, major] = match
    const result = JSON.parse(fs.readFileSync(path.join(dir, file), 'utf8'))
    if (result.case === 'leak') leaks.push({ name, major: Number(major), result })
    else cases.get(name)?.set(Number(major), result)
  }
  return { cases, leaks }
}

/** The numbers of one metric of a contender, or null if there are none. */
function valuesOf (entry, metric) {
  const values = entry?.samples.map((sample) => sample[metric])
    .filter((value) => typeof value === 'number')
  return values?.length > 0 ? values : null
}

/** { median, low, high, spread } of one metric; low and high are quartiles. */
function statsOf (entry, metric) {
  const values = valuesOf(entry, metric)
  if (values === null) return null
  const sorted = [...values].sort((a, b) => a - b)
  return {
    ...summarise(values),
    low: quantile(sorted, 0.25),
    high: quantile(sorted, 0.75)
  }
}

/**
 * How much one costs of what another costs: the median of the ratios of each
 * round, because what disturbs one disturbs its neighbours too. Where rounds do
 * not pair up, the ratio of the medians.
 */
function ratioOf (entry, other, metric) {
  const values = valuesOf(entry, metric)
  const others = valuesOf(other, metric)
  if (values === null || others === null) return null
  if (values.length !== others.length) {
    return summarise(values).median / summarise(others).median
  }
  return summarise(values.map((value, i) => value / others[i])).median
}

module.exports = { ratioOf, readResults, statsOf }
