'use strict'

const assert = require('node:assert/strict')
const { figures, valueOf } = require('../../bench/lib/figures')
const { loadCase } = require('../../bench/lib/cases')
const { judge } = require('../../bench/lib/leak-run')
const { ratioOf, statsOf } = require('../../bench/lib/results')
const { fitSlope } = require('../../bench/lib/slope')
const { summarise } = require('../../bench/lib/summary')
const { formatNumber, formatTable } = require('../../bench/lib/table')

const entry = (...values) => ({ samples: values.map((cpu) => ({ cpu })) })

// A sequence that looks random and is always the same.
function noise (seed) {
  let state = seed
  return () => {
    state = (Math.imul(state, 1103515245) + 12345) >>> 0
    return state / 2 ** 32 - 0.5
  }
}

const line = (slope, spread) => {
  const random = noise(1)
  return Array.from({ length: 100 }, (_, i) =>
    [i * 50, 50_000 + slope * i * 50 + spread * random()])
}

describe('the arithmetic of the benchmarks', () => {
  it('takes the median, and half the range of the quartiles as the spread', () => {
    assert.deepEqual(summarise([5, 1, 3, 2, 4]),
      { median: 3, min: 1, max: 5, spread: 1 / 3 * 100 })
  })

  it('compares round by round', () => {
    assert.equal(ratioOf(entry(1, 20, 3), entry(2, 40, 3), 'cpu'), 0.5)
  })

  it('compares medians where rounds are missing', () => {
    assert.equal(ratioOf(entry(1, 2, 3), entry(4), 'cpu'), 0.5)
  })

  it('says nothing about what was not measured', () => {
    assert.equal(statsOf({ samples: [] }, 'cpu'), null)
    assert.equal(ratioOf(entry(1), undefined, 'cpu'), null)
    assert.equal(valueOf(figures[0], undefined), null)
  })

  it('asks only for figures that the cases give', () => {
    for (const figure of figures) {
      const benchmark = loadCase(figure.case)
      assert.ok(figure.metric in benchmark.metrics, figure.what)
      assert.ok(benchmark.contenders.includes(figure.of), figure.what)
      assert.ok(benchmark.contenders.includes(figure.against), figure.what)
      for (const name of [figure.variant, figure.baseVariant]) {
        if (name !== undefined) assert.ok(name in benchmark.variants, figure.what)
      }
    }
  })

  it('finds a slope, and an interval that holds it', () => {
    const { slope, low, high } = fitSlope(line(2, 400))
    assert.ok(low < 2 && high > 2, `${low} .. ${high}`)
    assert.ok(Math.abs(slope - 2) < 0.1, String(slope))
  })

  it('finds no slope in noise', () => {
    const { low, high } = fitSlope(line(0, 400))
    assert.ok(low < 0 && high > 0, `${low} .. ${high}`)
  })

  it('aligns columns and shows digits that mean something', () => {
    assert.equal(formatTable([['', 'n'], ['ab', '10']]), '     n\nab  10')
    assert.deepEqual([1234.5, 12.345, 0.0123, NaN].map(formatNumber),
      ['1,235', '12.3', '0.01', '-'])
  })
})

describe('the verdict of the leak benchmark', () => {
  const samples = (slope, spread = 100) => line(slope, spread)
    .map(([cycle, kb]) => ({ cycle, rss: kb * 1024 }))
  const options = { warmUp: 0.2, plain: null }

  it('is flat for noise', () => {
    assert.equal(judge(samples(0), options).text, 'flat')
  })

  it('is flat for what is too little to tell from chance', () => {
    assert.equal(judge(samples(0.01, 0), options).text, 'flat')
  })

  it('names the growth', () => {
    const { text, grows } = judge(samples(3), options)
    assert.match(text, /^grows by [23]\.\d\d KB per cycle$/)
    assert.equal(grows, true)
  })

  it('does not blame TLS for what plain sockets do too', () => {
    const { fit } = judge(samples(3.1), options)
    const { text, grows } = judge(samples(3), { warmUp: 0.2, plain: fit })
    assert.match(text, /as plain TCP does$/)
    assert.equal(grows, false)
  })

  it('leaves the warm-up out', () => {
    const all = samples(0)
    for (const sample of all.slice(0, 20)) sample.rss /= 2
    assert.equal(judge(all, options).text, 'flat')
  })
})
