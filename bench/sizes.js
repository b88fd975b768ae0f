'use strict'

// What one idle connection is made of: allocations in C by what they are for,
// and objects in the JavaScript heap.
//
//   npm run bench:sizes -- [options]
//
// `--help` lists them.

const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const { positive, readArguments } = require('./lib/arguments')
const { Child, startServer } = require('./lib/child')
const { contenders } = require('./lib/contenders')
const { ensureHeapCount, readReport } = require('./lib/heap-count')
const { splitHeap } = require('./lib/heap-parts')
const { ensurePki } = require('./lib/pki')
const { findNode } = require('./lib/runtimes')
const { formatTable } = require('./lib/table')

const client = path.join(__dirname, 'lib', 'sizes-client.js')

const help = `npm run bench:sizes -- [options]

  --contender NAME      one that runs on node; may be given more than once
                        (node-own, eager-fd)
  --count N             connections (200)
  --resumed             with resumed sessions, where the contender can
  --stacks N            for each part, the N call stacks that hold most of it
  --node PATH|VERSION   another node
`

async function inspect (contender, { count, library, node, ports, resume }) {
  const dir = fs.mkdtempSync(path.join(os.tmpdir(), 'eager-tls-sizes-'))
  const report = path.join(dir, 'allocations')
  const settings = { contender, count, library, ports, report, resume }
  const child = new Child([
    node, '--expose-gc', client, JSON.stringify(settings)
  ], { env: { ...contenders[contender].env, LD_PRELOAD: library } })
  try {
    const answer = await child.receive()
    return { ...answer, parts: splitHeap(readReport(report, answer.maps)) }
  } finally {
    await child.close()
    fs.rmSync(dir, { recursive: true })
  }
}

const kilobytes = (bytes) => (bytes / 1024).toFixed(2)

function show (contender, { parts, heapUsed, external, objects }, { count, stacks }) {
  const sorted = [...parts].sort(([, a], [, b]) => b.bytes - a.bytes)
    .filter(([, { bytes }]) => bytes / count >= 8)
  const total = sorted.reduce((sum, [, { bytes }]) => sum + bytes, 0)
  const rows = [[`${contender}: allocations in C`, 'KB each', 'blocks each']]
  for (const [name, { bytes, blocks }] of sorted) {
    rows.push([name, kilobytes(bytes / count), (blocks / count).toFixed(1)])
  }
  rows.push(['in all', kilobytes(total / count), ''])
  console.log(`\n${formatTable(rows)}`)
  if (stacks > 0) {
    for (const [name, part] of sorted) {
      console.log(`\n${name}`)
      const most = [...part.stacks].sort(([, a], [, b]) => b - a).slice(0, stacks)
      for (const [stack, bytes] of most) {
        console.log(`  ${kilobytes(bytes / count)} KB  ${stack}`)
      }
    }
  }
  const shown = objects.filter(([, bytes]) => bytes >= 16).slice(0, 24)
  console.log('\n' + formatTable([
    [`${contender}: JavaScript heap`, 'KB each'],
    ...shown.map(([key, bytes]) => [key, kilobytes(bytes)]),
    ['in all (heapUsed)', kilobytes(heapUsed)],
    ['memory outside that V8 knows of', kilobytes(external)]
  ]))
}

async function main () {
  const values = readArguments({
    contender: { type: 'string', multiple: true, default: ['node-own', 'eager-fd'] },
    count: { type: 'string', default: '200' },
    stacks: { type: 'string', default: '0' },
    resumed: { type: 'boolean', default: false },
    node: { type: 'string' }
  }, help)
  for (const name of values.contender) {
    if (contenders[name]?.runtime !== 'node') {
      throw new Error(`no contender on node: ${name}`)
    }
  }
  const count = positive('count', values.count)
  const library = ensureHeapCount()
  const node = findNode(values.node)
  ensurePki()
  const server = await startServer()
  try {
    console.log(`One idle connection, of ${count}, ` +
      (values.resumed ? 'resumed where the contender can' : 'full handshakes'))
    for (const name of values.contender) {
      const found = await inspect(name, {
        count, library, node, ports: server.ports, resume: values.resumed
      })
      show(name, found, { count, stacks: Number(values.stacks) })
    }
  } finally {
    await server.close()
  }
}

main().catch((error) => {
  console.error(error.message)
  process.exitCode = 2
})
