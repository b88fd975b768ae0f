'use strict'

// What it takes to find the context for some options, connection apart: the
// options hashed and looked up, in each shape in which applications pass them,
// beside what node:tls does with them each time.
//
//   npm run bench:micro [-- --time MILLISECONDS]

const tls = require('node:tls')
const { positive, readArguments } = require('./lib/arguments')
const { ensureInstalled } = require('./lib/install')
const { ensurePki, readPki } = require('./lib/pki')
const { formatNumber, formatTable } = require('./lib/table')

/** name: makes the options of each call */
function shapes () {
  const one = readPki('ca.crt')
  const bundle = readPki('bundle.pem')
  const text = bundle.toString()
  const array = text.match(/-----BEGIN [^-]+-----[^-]+-----END [^-]+-----\n/g)
  const cert = readPki('client.crt')
  const key = readPki('client.key')
  return {
    'one CA': () => ({ ca: one }),
    'one CA, client certificate': () => ({ ca: one, cert, key }),
    'bundle, fresh Buffer': () => ({ ca: Buffer.from(bundle) }),
    'bundle, same Buffer': () => ({ ca: bundle }),
    'bundle, string': () => ({ ca: text }),
    'bundle, array': () => ({ ca: array })
  }
}

const help = `npm run bench:micro -- [options]

  --time MILLISECONDS   for each shape of the options (500)
`

async function main () {
  const values = readArguments({
    time: { type: 'string', default: '500' }
  }, help)
  ensureInstalled()
  ensurePki({ bundle: true })
  const { Bench } = await import('tinybench')
  const eager = require('..')
  const time = positive('time', values.time)
  const bench = new Bench({
    time, iterations: 5, warmupTime: time / 5, warmupIterations: 2
  })
  for (const [name, options] of Object.entries(shapes())) {
    bench.add(`eager-tls: ${name}`, () => {
      eager.createSecureContext(options()).close()
    })
    bench.add(`node:tls: ${name}`, () => {
      tls.createSecureContext(options())
    })
  }
  await bench.run()
  const rows = [['createSecureContext', 'median, µs', '99 %, µs', 'calls']]
  for (const { name, result } of bench.tasks) {
    if (result.error) throw result.error
    rows.push([
      name, formatNumber(result.latency.p50 * 1000),
      formatNumber(result.latency.p99 * 1000),
      String(result.latency.samples.length)
    ])
  }
  console.log(formatTable(rows))
}

main().catch((error) => {
  console.error(error.message)
  process.exitCode = 2
})
