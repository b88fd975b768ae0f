'use strict'

/**
 * The part of docs/benchmarks.md on one case: charts and tables.
 */

const { loadCase } = require('./cases')
const { markdownTable } = require('./markdown')
const { ratioOf, statsOf } = require('./results')
const { formatNumber } = require('./table')

const BASE = 'node-own'

/** 'upgrade-bundle', 'fresh Buffer' -> 'upgrade-bundle-fresh-buffer' */
function chartName (name, variant) {
  const suffix = variant === 'default' ? '' : `-${variant}`
  return (name + suffix).toLowerCase().replace(/[^a-z0-9]+/g, '-')
}

function captionOf (variant) {
  return variant === 'default' ? '' : `, ${variant}`
}

function variantTable (entries, metrics) {
  const keys = Object.keys(metrics)
  const head = ['']
  for (const key of keys) {
    const [what, unit] = metrics[key]
    head.push(`${what}, ${unit}`, '±')
  }
  head.push(`of \`${BASE}\``)
  const rows = []
  for (const [name, entry] of Object.entries(entries)) {
    const row = [`\`${name}\``]
    for (const key of keys) {
      const stats = statsOf(entry, key)
      row.push(stats === null ? '-' : formatNumber(stats.median),
        stats === null ? '' : `${stats.spread.toFixed(0)} %`)
    }
    const ratio = ratioOf(entry, entries[BASE], keys[0])
    row.push(ratio === null ? '-' : ratio.toFixed(2))
    rows.push(row)
  }
  return markdownTable([head, ...rows])
}

function notMeasured (entries) {
  return Object.entries(entries).filter(([, { missing }]) => missing)
    .map(([name, { missing }]) => `\`${name}\` was not measured: ${missing}.`)
}

/** The first metric on each version of Node. */
function versionsTable (byMajor, variant, metrics) {
  const [key, [what, unit]] = Object.entries(metrics)[0]
  const majors = [...byMajor.keys()].sort((a, b) => a - b)
  const names = new Set(majors.flatMap((major) =>
    Object.keys(byMajor.get(major).variants[variant] ?? {})))
  const rows = [[
    `${what}, ${unit}${captionOf(variant)}`,
    ...majors.map((major) => {
      const { runtime } = byMajor.get(major)
      return `Node ${runtime.version}, OpenSSL ${runtime.openssl}`
    })
  ]]
  for (const name of names) {
    rows.push([`\`${name}\``, ...majors.map((major) => {
      const stats = statsOf(byMajor.get(major).variants[variant]?.[name], key)
      return stats === null ? '-' : formatNumber(stats.median)
    })])
  }
  return markdownTable(rows)
}

function chartRows (entries, metric) {
  return Object.entries(entries).map(([name, entry]) => ({
    name, stats: statsOf(entry, metric)
  })).filter(({ stats }) => stats !== null).map(({ name, stats }) => ({
    name, ...stats, label: formatNumber(stats.median)
  }))
}

/**
 * @param {string} name
 * @param {Map<number, object>} byMajor results by major version of Node
 * @param {(file: string, svg: string) => string} keep stores a chart, gives
 *   its path as the document refers to it
 * @returns {Promise<string[]>} paragraphs
 */
async function reportCase (name, byMajor, keep) {
  const { barChart } = require('./charts')
  const first = byMajor.get(Math.min(...byMajor.keys()))
  const { metrics, title } = first
  const [key, [what, unit]] = Object.entries(metrics)[0]
  const charts = loadCase(name).charts ?? Object.keys(first.variants)
  const out = [`### ${title}`,
    `\`npm run bench -- --case ${name}\`: ${first.rounds} rounds of ` +
    `${first.count.toLocaleString('en-US')}, Node ${first.runtime.version}.`]
  for (const [variant, entries] of Object.entries(first.variants)) {
    if (charts.includes(variant)) {
      const svg = await barChart({
        title: `${what}${captionOf(variant)} (less is better)`,
        xTitle: unit,
        rows: chartRows(entries, key)
      })
      const file = keep(`${chartName(name, variant)}.svg`, svg)
      out.push(`![${what}${captionOf(variant)}, by contender](${file})`)
    }
    if (variant !== 'default') out.push(`**${variant}**`)
    out.push(variantTable(entries, metrics), ...notMeasured(entries))
  }
  if (byMajor.size > 1) {
    for (const variant of charts) {
      out.push(versionsTable(byMajor, variant, metrics))
    }
  }
  return out
}

module.exports = { reportCase }
