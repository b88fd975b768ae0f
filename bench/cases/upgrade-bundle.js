'use strict'

const { measureEach } = require('../lib/measure')
const { readPki } = require('../lib/pki')
const { metrics, upgrades, warmUp } = require('../lib/upgrades')

/** The `ca` of each upgrade, in the ways in which applications pass it. */
const shapes = {
  'one CA' () {
    const ca = readPki('ca.crt')
    return () => ({ ca })
  },
  'fresh Buffer' () {
    const bundle = readPki('bundle.pem')
    return () => ({ ca: Buffer.from(bundle) })
  },
  'same Buffer' () {
    const ca = readPki('bundle.pem')
    return () => ({ ca })
  },
  string () {
    const ca = readPki('bundle.pem').toString()
    return () => ({ ca })
  },
  array () {
    const text = readPki('bundle.pem').toString()
    const ca = text.match(/-----BEGIN [^-]+-----[^-]+-----END [^-]+-----\n/g)
    return () => ({ ca })
  }
}

let more

module.exports = {
  title: 'Upgrade with a bundle of 120 CA certificates, full handshakes',
  metrics,
  contenders: ['node-own', 'eager-fd', 'eager-stream', 'eager-node', 'bun'],
  count: 100,
  smoke: 3,
  bundle: true,
  charts: ['one CA', 'fresh Buffer'],
  variants: Object.fromEntries(Object.keys(shapes).map((shape) =>
    [shape, { shape }])),
  wants: { resume: false },
  warmUp (bench, count) {
    more = shapes[bench.variant.shape]()
    return warmUp({ ...bench, open: () => bench.open(more()) }, count)
  },
  round: (bench, count) =>
    measureEach(count, () => upgrades(bench, count, more))
}
