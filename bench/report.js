'use strict'

// Renders docs/benchmarks.md, and its charts in docs/benchmarks, from
// bench/results:
//
//   npm run bench:report [-- --results DIR --docs DIR]
//
// bench/notes.md, if there is one, goes in as it is: what the numbers do not say
// themselves.

const fs = require('node:fs')
const path = require('node:path')
const { readArguments } = require('./lib/arguments')
const { contenders } = require('./lib/contenders')
const { figures, valueOf } = require('./lib/figures')
const { ensureInstalled } = require('./lib/install')
const { drawLeak, leakRows } = require('./lib/leak-report')
const { markdownTable } = require('./lib/markdown')
const { reportCase } = require('./lib/report-case')
const { intro, limits, reproduce } = require('./lib/report-text')
const { ratioOf, readResults } = require('./lib/results')

const notes = path.join(__dirname, 'notes.md')

function machines (results) {
  const seen = new Map()
  for (const { machine, commit, changed, date, runtime } of results) {
    const { cpu, cores, memoryGB, system, kernel } = machine
    const key = `${cpu}, ${cores} cores, ${memoryGB} GB, ${system}, ${kernel}`
    if (!seen.has(key)) seen.set(key, { nodes: new Set(), commits: new Set(), dates: new Set() })
    const of = seen.get(key)
    of.nodes.add(`${runtime.version} (OpenSSL ${runtime.openssl})`)
    of.commits.add(`\`${commit.slice(0, 10)}\`${changed ? ' with changes' : ''}`)
    of.dates.add(date.slice(0, 10))
  }
  return [...seen].map(([key, { nodes, commits, dates }]) =>
    `Measured on ${key}; Node ${[...nodes].join(', ')}; commit ` +
    `${[...commits].join(', ')}; ${[...dates].sort().join(', ')}.`)
}

function majorsOf (cases) {
  const all = [...cases.values()].flatMap((byMajor) => [...byMajor.keys()])
  return [...new Set(all)].sort((a, b) => a - b)
}

function figuresTable (cases, majors) {
  const rows = [['', 'wanted, at most', ...majors.map((major) => `Node ${major}`)]]
  for (const figure of figures) {
    const values = majors.map((major) => {
      const value = valueOf(figure, cases.get(figure.case)?.get(major))
      if (value === null) return '-'
      const text = figure.difference ? value.toFixed(1) : value.toFixed(2)
      return value <= figure.atMost ? text : `**${text}**`
    })
    rows.push([figure.what, figure.atMost.toFixed(figure.difference ? 1 : 2), ...values])
  }
  return markdownTable(rows)
}

const others = ['node-own', 'node-shared', 'node-shared-sessions', 'bun']

/** Where the package costs as much as what it is compared with, or more. */
function behind (cases, majors) {
  const rows = [['case', 'of', ...majors.map((major) => `Node ${major}`)]]
  for (const [name, byMajor] of cases) {
    if (byMajor.size === 0) continue
    const { metrics, variants } = byMajor.values().next().value
    const key = Object.keys(metrics)[0]
    for (const variant of Object.keys(variants)) {
      for (const other of others) {
        const ratios = majors.map((major) => {
          const entries = byMajor.get(major)?.variants[variant]
          return ratioOf(entries?.['eager-fd'], entries?.[other], key)
        })
        if (!ratios.some((ratio) => ratio >= 1)) continue
        rows.push([
          variant === 'default' ? name : `${name}, ${variant}`, `\`${other}\``,
          ...ratios.map((ratio) => ratio === null ? '-' : ratio.toFixed(2))
        ])
      }
    }
  }
  if (rows.length === 1) return 'In no case that was measured.'
  return 'What `eager-fd` costs of what another contender does, by the first ' +
    'number of each case, wherever one version of Node shows 1 or more:\n\n' +
    markdownTable(rows)
}

async function leakParts (leaks, keep) {
  const out = []
  for (const { name, result } of leaks) {
    const { rss, contexts } = await drawLeak(result)
    const through = result.driver ? ` through \`${result.driver}\`` : ''
    out.push(`### ${result.cycles.toLocaleString('en-US')} upgrades${through}, ` +
      `Node ${result.runtime.version}, ${result.allocator}`)
    out.push(`![RSS by upgrade cycle](${keep(`${name}-rss.svg`, rss)})`)
    if (contexts) {
      out.push(`![Live contexts by upgrade cycle](${keep(`${name}-contexts.svg`, contexts)})`)
    }
    out.push(markdownTable(leakRows(result)))
    out.push(Object.entries(result.contenders).map(([contender, entry]) =>
      `- \`${contender}\` (${entry.about}): ${entry.verdict.text}`).join('\n'))
  }
  return out
}

const help = `npm run bench:report -- [options]

  --results DIR         the samples (bench/results)
  --docs DIR            where benchmarks.md and its charts go (docs)
`

async function main () {
  const values = readArguments({
    results: { type: 'string', default: path.join(__dirname, 'results') },
    docs: { type: 'string', default: path.join(__dirname, '..', 'docs') }
  }, help)
  ensureInstalled()
  const { cases, leaks } = readResults(values.results)
  const charts = path.join(values.docs, 'benchmarks')
  fs.mkdirSync(charts, { recursive: true })
  const keep = (file, svg) => {
    fs.writeFileSync(path.join(charts, file), svg + '\n')
    return `benchmarks/${file}`
  }
  const all = [...cases.values()].flatMap((byMajor) => [...byMajor.values()])
    .concat(leaks.map(({ result }) => result))
  if (all.length === 0) throw new Error(`no results in ${values.results}`)

  const parts = [intro, ...machines(all)]
  parts.push('## Contenders', markdownTable([['', ''],
    ...Object.entries(contenders).map(([name, { about }]) => [`\`${name}\``, about])
  ]).replace('---:', '---'))
  parts.push('## What was wanted, and what came out',
    'Of `eager-fd`. The aims were set for Node 20. Bold: not reached.',
    figuresTable(cases, majorsOf(cases)))
  parts.push('## Where it is not ahead', behind(cases, majorsOf(cases)))
  if (fs.existsSync(notes)) parts.push(fs.readFileSync(notes, 'utf8').trim())
  parts.push('## Results')
  for (const [name, byMajor] of cases) {
    if (byMajor.size > 0) parts.push(...await reportCase(name, byMajor, keep))
  }
  if (leaks.length > 0) parts.push('## Memory over many upgrades', ...await leakParts(leaks, keep))
  parts.push(reproduce, limits)
  const file = path.join(values.docs, 'benchmarks.md')
  fs.writeFileSync(file, parts.join('\n\n') + '\n')
  console.log(path.relative(process.cwd(), file))
}

main().catch((error) => {
  console.error(error.message)
  process.exitCode = 2
})
