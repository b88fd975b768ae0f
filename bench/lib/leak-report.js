'use strict'

/**
 * What a leak run shows: a table and a chart in the terminal, and a page with
 * the curves that needs nothing from anywhere.
 */

const fs = require('node:fs')
const path = require('node:path')
const { colourOf } = require('./colours')
const { formatNumber, formatTable } = require('./table')

const MB = 2 ** 20
const CHART_WIDTH = 64

// What there is a curve of: file name, title, value of a sample.
const curves = [
  ['rss', 'Resident memory (RSS)', 'MB', ({ rss }) => rss / MB],
  ['heap', 'JavaScript heap in use', 'MB', ({ heapUsed }) => heapUsed / MB],
  ['external', 'External memory V8 knows of', 'MB', ({ external }) => external / MB],
  ['contexts', 'Live TLS contexts (SSL_CTX)', 'contexts', ({ contexts }) => contexts],
  ['connections', 'Live TLS connections (SSL)', 'connections', ({ connections }) => connections]
]

const count = (value) => value === null || value === undefined ? '-' : String(value)

/** The rows of the result, strings. */
function leakRows ({ contenders }) {
  const rows = [[
    '', 'RSS start, MB', 'end, MB', 'heap end, MB', 'SSL_CTX max', 'end',
    'SSL end', 'KB per cycle', '95 % interval'
  ]]
  for (const [name, { samples, verdict }] of Object.entries(contenders)) {
    const last = samples.at(-1)
    const contexts = samples.map((sample) => sample.contexts)
    rows.push([
      name,
      formatNumber(samples[0].rss / MB),
      formatNumber(last.rss / MB),
      formatNumber(last.heapUsed / MB),
      count(contexts.includes(null) ? null : Math.max(...contexts)),
      count(last.contexts),
      count(last.connections),
      verdict.fit === null ? '-' : verdict.fit.slope.toFixed(2),
      verdict.fit === null
        ? '-'
        : `${verdict.fit.low.toFixed(2)} .. ${verdict.fit.high.toFixed(2)}`
    ])
  }
  return rows
}

/** As many points as there are columns. */
function resample (samples, value) {
  return Array.from({ length: CHART_WIDTH }, (_, i) =>
    value(samples[Math.round(i * (samples.length - 1) / (CHART_WIDTH - 1))]))
}

function terminalChart (result) {
  const asciichart = require('asciichart')
  const palette = [
    asciichart.darkgray, asciichart.red, asciichart.yellow, asciichart.blue,
    asciichart.green, asciichart.magenta
  ]
  const marks = Object.entries(result.contenders)
  const colours = marks.map((_, i) => palette[i % palette.length])
  const coloured = process.stdout.isTTY === true
  const series = marks.map(([, { samples }]) => resample(samples, curves[0][3]))
  const options = { height: 14, format: (v) => v.toFixed(1).padStart(8) }
  if (coloured) {
    const legend = marks.map(([name], i) =>
      `${colours[i]}── ${name}${asciichart.reset}`).join('   ')
    return axis(asciichart.plot(series, { ...options, colors: colours }),
      result.cycles) + `\n\n${legend}`
  }
  // Without colours one chart could not tell its curves apart; the scale is
  // the same in all.
  const all = series.flat()
  const range = { min: Math.min(...all), max: Math.max(...all), height: 8 }
  return marks.map(([name], i) => `${name}\n` +
    axis(asciichart.plot(series[i], { ...options, ...range }), result.cycles))
    .join('\n\n')
}

function axis (plot, cycles) {
  const last = String(cycles)
  return plot + '\n' + ' '.repeat(10) + '0' +
    last.padStart(CHART_WIDTH - 1) + ' cycles'
}

/** Prints table, chart and verdicts. */
function printLeak (result, { chart }) {
  console.log(`\n${formatTable(leakRows(result))}\n`)
  if (chart) console.log(`RSS, MB\n\n${terminalChart(result)}\n`)
  for (const [name, { verdict }] of Object.entries(result.contenders)) {
    console.log(`${name}: ${verdict.text}`)
  }
}

/** The charts by name, as SVG; of what was counted by anybody. */
async function drawLeak (result) {
  const { lineChart } = require('./charts')
  const charts = {}
  for (const [name, title, unit, value] of curves) {
    const series = Object.entries(result.contenders)
      .map(([contender, { samples }]) => ({
        name: contender,
        points: samples.map((sample) => [sample.cycle, value(sample)])
          .filter(([, y]) => typeof y === 'number')
      })).filter(({ points }) => points.length > 0)
    if (series.length === 0) continue
    charts[name] = await lineChart({
      title, xTitle: 'upgrade cycles', yTitle: unit, series
    })
  }
  return charts
}

const escape = (text) => String(text).replace(/[&<>"]/g, (c) =>
  ({ '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' })[c])

function htmlTable (rows) {
  const [head, ...body] = rows
  const line = (tag, cells) =>
    `<tr>${cells.map((cell) => `<${tag}>${escape(cell)}</${tag}>`).join('')}</tr>`
  return `<table>${line('th', head)}${body.map((row) => line('td', row)).join('')}</table>`
}

function page (result, charts) {
  const { machine, runtime } = result
  const facts = [
    `${result.cycles} cycles with ${result.about}`,
    `Node ${runtime.version}, OpenSSL ${runtime.openssl}`,
    `${machine.cpu}, ${machine.cores} cores, ${machine.system}`,
    `allocator ${result.allocator}${result.arenas ? `, ${result.arenas} arenas` : ''}`,
    `commit ${result.commit.slice(0, 12)}${result.changed ? ' with changes' : ''}`,
    result.date
  ]
  const verdicts = Object.entries(result.contenders).map(([name, entry]) =>
    `<li><b style="color:${colourOf(name, 0)}">${escape(name)}</b> ` +
    `(${escape(entry.about)}): ${escape(entry.verdict.text)}</li>`)
  return `<!doctype html>
<html lang="en"><meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta name="color-scheme" content="light dark">
<title>Memory over TLS upgrades</title>
<style>
body{font:15px/1.5 system-ui,sans-serif;max-width:60em;margin:2em auto;padding:0 1em;background:#fff;color:#1f2328}
table{border-collapse:collapse;font-variant-numeric:tabular-nums}
th,td{padding:.2em .8em;text-align:right;border-bottom:1px solid #8c959f55}
th:first-child,td:first-child{text-align:left}
svg{max-width:100%;height:auto}
@media (prefers-color-scheme:dark){body{background:#0d1117;color:#e6edf3}}
</style>
<h1>Memory over TLS upgrades</h1>
<p>${facts.map(escape).join(' · ')}</p>
<ul>${verdicts.join('\n')}</ul>
${htmlTable(leakRows(result))}
<p>KB per cycle: the slope of RSS after the first ${Math.round(result.warmUp * 100)} % of the cycles, with its 95 % confidence interval.</p>
${Object.values(charts).join('\n')}
</html>
`
}

/** Writes report.html, an SVG for each curve, and the samples. */
async function writeLeak (result, dir) {
  const charts = await drawLeak(result)
  fs.mkdirSync(dir, { recursive: true })
  for (const [name, svg] of Object.entries(charts)) {
    fs.writeFileSync(path.join(dir, `${name}.svg`), svg + '\n')
  }
  fs.writeFileSync(path.join(dir, 'report.html'), page(result, charts))
}

module.exports = { drawLeak, leakRows, printLeak, writeLeak }
