'use strict'

/**
 * The process, or the processes, of one contender in one case.
 */

const path = require('node:path')
const { Child } = require('./child')
const { loadCase } = require('./cases')
const { contenders } = require('./contenders')
const { describeFloor, ensureFloor } = require('./floor')
const { dir: pki } = require('./pki')
const { describeRuntime, findBun } = require('./runtimes')

const client = path.join(__dirname, 'client.js')

class JsWorker {
  #command
  #env
  #fresh
  #child = null

  constructor (job, binary) {
    const { env } = contenders[job.contender]
    const benchmark = loadCase(job.case)
    const nodeArgs = job.runtime === 'bun' ? [] : benchmark.nodeArgs ?? []
    this.#command = [binary, ...nodeArgs, client, JSON.stringify(job)]
    this.#env = env
    this.#fresh = benchmark.fresh === true
    this.runtime = describeRuntime(binary)
  }

  async round (count) {
    this.#child ??= new Child(this.#command, { env: this.#env })
    const samples = await this.#child.ask({ count })
    if (this.#fresh) await this.close()
    return samples
  }

  async close () {
    const child = this.#child
    this.#child = null
    await child?.close()
  }
}

class CWorker {
  #command

  constructor ({ floor, ports, mtls }, binary) {
    const cert = mtls ? ['client.crt', 'client.key'] : null
    this.#command = [
      binary, ...floor, path.join(pki, 'ca.crt'),
      ...cert?.map((name) => path.join(pki, name)) ?? ['-', '-'],
      String(mtls ? ports.mtls : ports.tls)
    ]
    this.runtime = describeFloor()
  }

  async round (count) {
    const child = new Child([...this.#command, String(count)])
    const samples = await child.receive()
    await child.close()
    return samples
  }

  async close () {}
}

/**
 * @param {object} job { case, variant, contender, ports, node }
 * @returns {JsWorker | CWorker | { missing: string }}
 */
function createWorker (job) {
  const benchmark = loadCase(job.case)
  const wants = { ...benchmark, ...benchmark.wants, ...benchmark.variants?.[job.variant] }
  const { runtime } = contenders[job.contender]
  if (runtime === 'c') {
    if (wants.floor === undefined) return { missing: 'no such case in C' }
    const binary = ensureFloor()
    if (binary === null) return { missing: 'floor.c cannot be built' }
    return new CWorker({ ...job, floor: wants.floor, mtls: wants.mtls }, binary)
  }
  if (runtime === 'bun') {
    const binary = findBun()
    if (binary === null) return { missing: 'scripts/get-runtimes.sh bun' }
    return new JsWorker({ ...job, runtime }, binary)
  }
  return new JsWorker({ ...job, runtime }, job.node)
}

module.exports = { createWorker }
