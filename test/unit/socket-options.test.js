'use strict'

/** What a net.Socket costs in a process that has this package loaded. */

const assert = require('node:assert/strict')
const { execFile } = require('node:child_process')
const path = require('node:path')
const { promisify } = require('node:util')

const run = promisify(execFile)
const root = path.join(__dirname, '../..')

/** Runs in a process of its own: bytes left for each socket in the old generation. */
function child () {
  const net = require('node:net')
  const v8 = require('node:v8')
  if (process.env.TEST_ROOT) require(process.env.TEST_ROOT)
  const oldGeneration = () => v8.getHeapSpaceStatistics()
    .filter(({ space_name: name }) => name === 'old_space' || name === 'map_space')
    .reduce((sum, { space_used_size: size }) => sum + size, 0)
  let made = null
  const make = (count) => {
    for (let i = 0; i < count; i++) made = new net.Socket({ port: i, host: 'localhost' })
  }
  make(1000)
  globalThis.gc()
  const before = oldGeneration()
  make(3000)
  globalThis.gc({ type: 'minor' })
  globalThis.gc({ type: 'minor' })
  if (made !== null) console.log(Math.round((oldGeneration() - before) / 3000))
}

async function bytesPerSocket (env) {
  const { stdout } = await run(process.execPath,
    ['--expose-gc', '--max-semi-space-size=1', '-e', `(${child})()`],
    { env: { ...process.env, ...env } })
  return Number(stdout)
}

describe('the options of net.Socket', () => {
  it('leave no maps behind', async () => {
    const without = await bytesPerSocket({ TEST_ROOT: '' })
    const loaded = await bytesPerSocket({ TEST_ROOT: root })
    // Newer versions of V8 need no help.
    const most = process.versions.node.startsWith('20.') ? 300 : without + 100
    assert.ok(loaded < most, `${loaded} bytes a socket, ${without} without`)
  })
})
