'use strict'

const { startServer } = require('./child')
const { loadCase } = require('./cases')
const { describeMachine, describeSources } = require('./machine')
const { ensurePki } = require('./pki')
const { describeRuntime } = require('./runtimes')
const { createWorker } = require('./workers')

/** The variants of a case, by name. */
function variantNames (benchmark) {
  return Object.keys(benchmark.variants ?? { default: {} })
}

/** Starts elsewhere each round, and turns round, so that nobody is always first. */
function orderOf (round, list) {
  const at = Math.floor(round / 2) % list.length
  const rotated = [...list.slice(at), ...list.slice(0, at)]
  return round % 2 === 0 ? rotated : rotated.reverse()
}

/**
 * Runs one variant of one case: all contenders, interleaved round by round.
 *
 * @param {object} plan { case, variant, contenders, rounds, count, node }
 * @param {(step: object) => void} onStep told of each round of a contender
 */
async function runVariant (plan, onStep) {
  const server = await startServer()
  const entries = []
  try {
    for (const contender of plan.contenders) {
      const worker = createWorker({ ...plan, contender, ports: server.ports })
      entries.push({
        name: contender, worker, samples: [], missing: worker.missing
      })
    }
    for (let round = 0; round < plan.rounds; round++) {
      for (const entry of orderOf(round, entries)) {
        if (entry.missing) continue
        try {
          entry.samples.push(await entry.worker.round(plan.count))
        } catch (error) {
          entry.missing = `failed: ${error.message}`
          process.exitCode = 1
        }
        onStep({ contender: entry.name, round, error: entry.missing })
      }
    }
  } finally {
    for (const { worker } of entries) await worker.close?.()
    await server.close()
  }
  return Object.fromEntries(entries.map(({ name, worker, samples, missing }) => [
    name, { runtime: worker.runtime, missing, samples }
  ]))
}

/**
 * Runs a case with all its variants.
 *
 * @returns {Promise<object>} what bench/results holds
 */
async function runCase (plan, onStep) {
  const benchmark = loadCase(plan.case)
  ensurePki({ bundle: benchmark.bundle })
  const result = {
    case: plan.case,
    title: benchmark.title,
    metrics: benchmark.metrics,
    date: new Date().toISOString(),
    ...describeSources(),
    machine: describeMachine(),
    runtime: describeRuntime(plan.node),
    rounds: plan.rounds,
    count: plan.count,
    variants: {}
  }
  for (const variant of variantNames(benchmark)) {
    result.variants[variant] = await runVariant({ ...plan, variant }, (step) =>
      onStep({ ...step, variant }))
  }
  return result
}

module.exports = { orderOf, runCase, variantNames }
