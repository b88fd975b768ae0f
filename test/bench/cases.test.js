'use strict'

// Each case of the benchmarks, with a handful of operations: that it runs, that
// its checks hold for each contender, that its numbers are numbers.

const assert = require('node:assert/strict')
const path = require('node:path')
const { loadCase, names } = require('../../bench/lib/cases')
const { contenders } = require('../../bench/lib/contenders')
const { runCase, variantNames } = require('../../bench/lib/run-case')

// The one case that all contenders run here; Bun is not among what the tests
// install.
const all = 'upgrade-resumed'
const few = ['node-own', 'eager-fd', 'eager-node', 'plain', 'floor']

function chosen (name, { contenders: some }) {
  if (name !== all) return some.filter((contender) => few.includes(contender))
  return some.filter((contender) => contenders[contender].runtime !== 'bun')
}

describe('the benchmark', () => {
  // scripts.test.js runs the case `rss` by its script.
  for (const name of names.filter((name) => name !== 'rss')) {
    const benchmark = loadCase(name)
    const some = chosen(name, benchmark)
    it(`${name} runs with ${some.join(', ')}`, async function () {
      this.timeout(120_000)
      const result = await runCase({
        case: name,
        contenders: some,
        rounds: 1,
        count: benchmark.smoke,
        node: process.execPath
      }, () => {})

      assert.deepEqual(Object.keys(result.variants), variantNames(benchmark))
      for (const [variant, entries] of Object.entries(result.variants)) {
        assert.deepEqual(Object.keys(entries), some)
        for (const [contender, { samples, missing }] of Object.entries(entries)) {
          const where = `${contender}, ${variant}`
          assert.equal(missing, undefined, where)
          assert.equal(samples.length, 1, where)
          checkSample(samples[0], benchmark, where)
        }
      }
    })
  }

  it('turns the order round, and gives each contender its turn to be first', async () => {
    const { orderOf } = require('../../bench/lib/run-case')
    const list = ['a', 'b', 'c']
    const rounds = [0, 1, 2, 3, 4, 5].map((round) => orderOf(round, list).join(''))
    assert.deepEqual(rounds, ['abc', 'cba', 'bca', 'acb', 'cab', 'bac'])
  })

  it('reports a contender that fails, and goes on with the others', async () => {
    const { exitCode } = process
    process.env.EAGER_TLS_PREBUILD = path.join(__dirname, 'nowhere')
    try {
      const { variants } = await runCase({
        case: 'upgrade-full',
        contenders: ['eager-fd', 'node-own'],
        rounds: 2,
        count: 1,
        node: process.execPath
      }, () => {})
      const { 'eager-fd': failed, 'node-own': other } = variants.default
      assert.match(failed.missing, /^failed: /)
      assert.equal(failed.samples.length, 0)
      assert.equal(other.samples.length, 2)
    } finally {
      delete process.env.EAGER_TLS_PREBUILD
      process.exitCode = exitCode
    }
  })
})

/** All of the case's metrics but those that only some runtimes can give. */
function checkSample (sample, { metrics }, where) {
  const given = Object.keys(metrics).filter((metric) => metric in sample)
  assert.ok(given.includes(Object.keys(metrics)[0]), where)
  for (const metric of given) {
    assert.ok(Number.isFinite(sample[metric]), `${where}: ${metric}`)
  }
}
