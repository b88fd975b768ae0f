'use strict'

/**
 * Charts as SVG text, by vega-lite. They carry their own style sheet, so that
 * they are readable in a light and in a dark page.
 */

const vega = require('vega')
const vegaLite = require('vega-lite')
const { colourOf } = require('./colours')

// Stand for what the style sheet replaces by theme.
const INK = '#101112'
const FAINT = '#808182'
const PAPER = '#fefdfc'

const style = `<style>
[fill="${INK}"]{fill:#1f2328}[stroke="${FAINT}"]{stroke:#8c959f}
[fill="${PAPER}"]{fill:#ffffff}
@media (prefers-color-scheme:dark){
[fill="${INK}"]{fill:#e6edf3}[stroke="${FAINT}"]{stroke:#6e7681}
[fill="${PAPER}"]{fill:#0d1117}
}
</style>`

const config = {
  background: PAPER,
  font: 'system-ui, sans-serif',
  title: { color: INK, anchor: 'start', fontSize: 14, offset: 12 },
  axis: {
    labelColor: INK,
    titleColor: INK,
    labelFontSize: 11,
    titleFontSize: 12,
    titleFontWeight: 'normal',
    domainColor: FAINT,
    tickColor: FAINT,
    gridColor: FAINT,
    gridOpacity: 0.25
  },
  legend: { labelColor: INK, titleColor: INK, labelFontSize: 12, labelLimit: 320 },
  header: { labelColor: INK, titleColor: INK },
  view: { stroke: null }
}

async function render (spec) {
  const { spec: compiled } = vegaLite.compile({ padding: 12, ...spec, config })
  const view = new vega.View(vega.parse(compiled), { renderer: 'none' })
  const svg = await view.toSVG()
  view.finalize()
  return svg.replace(/(<svg[^>]*>)/, `$1${style}`)
}

function colourScale (names) {
  return { domain: names, range: names.map(colourOf) }
}

/**
 * Curves over a number.
 *
 * @param {object} chart { title, x: [title], y: [title], series }
 *   series: [{ name, points: [[x, y]...] }]
 * @returns {Promise<string>}
 */
function lineChart ({ title, xTitle, yTitle, series }) {
  const values = series.flatMap(({ name, points }) =>
    points.map(([x, y]) => ({ name, x, y })))
  return render({
    title,
    width: 640,
    height: 320,
    data: { values },
    mark: { type: 'line', strokeWidth: 2 },
    encoding: {
      x: { field: 'x', type: 'quantitative', title: xTitle, axis: { grid: false } },
      y: { field: 'y', type: 'quantitative', title: yTitle },
      color: {
        field: 'name',
        type: 'nominal',
        title: null,
        scale: colourScale(series.map(({ name }) => name)),
        legend: { orient: 'bottom', columns: 3, symbolType: 'stroke', symbolStrokeWidth: 3 }
      }
    }
  })
}

/**
 * One bar for each name: the median, with the range of the quartiles, the
 * number at its end.
 *
 * @param {object} chart { title, xTitle, rows }
 *   rows: [{ name, median, low, high, label }]
 * @returns {Promise<string>}
 */
function barChart ({ title, xTitle, rows }) {
  const names = rows.map(({ name }) => name)
  const most = Math.max(...rows.map(({ high }) => high))
  const y = { field: 'name', type: 'nominal', title: null, sort: names }
  return render({
    title,
    width: 560,
    height: { step: 28 },
    data: { values: rows },
    layer: [{
      mark: { type: 'bar', height: 17 },
      encoding: {
        y: { ...y, axis: { labelLimit: 320, ticks: false, domain: false, labelFontSize: 12 } },
        x: {
          field: 'median',
          type: 'quantitative',
          title: xTitle,
          // Room for the number behind the longest bar.
          scale: { domain: [0, most * 1.12], nice: false }
        },
        color: {
          field: 'name', type: 'nominal', scale: colourScale(names), legend: null
        }
      }
    }, {
      mark: { type: 'rule', color: FAINT, strokeWidth: 1.5 },
      encoding: {
        y,
        x: { field: 'low', type: 'quantitative' },
        x2: { field: 'high' }
      }
    }, {
      mark: { type: 'text', align: 'left', dx: 6, color: INK, fontSize: 12 },
      encoding: {
        y,
        x: { field: 'high', type: 'quantitative' },
        text: { field: 'label' }
      }
    }]
  })
}

module.exports = { barChart, lineChart }
