'use strict'

const assert = require('node:assert/strict')
const fs = require('node:fs')
const path = require('node:path')
const { pathToFileURL } = require('node:url')

const tsd = require('tsd').default

const eagerTls = require('../..')

const ROOT = path.join(__dirname, '../..')

describe('the types', () => {
  it('say what test/types expects of them', async () => {
    const diagnostics = await tsd({ cwd: ROOT })
    assert.deepEqual(diagnostics.map(({ fileName, line, message }) =>
      `${fileName}:${line}: ${message}`), [])
  }).timeout(120_000)

  it('declare each export, and no other', () => {
    const text = fs.readFileSync(path.join(ROOT, 'lib/index.d.ts'), 'utf8')
    const declared = new Set(Array.from(
      text.matchAll(/^export (?:function|const|class) (\w+)/gm),
      ([, name]) => name))
    assert.deepEqual([...declared].sort(), Object.keys(eagerTls).sort())
  })

  it('hold for import as for require', async () => {
    const module = await import(
      pathToFileURL(path.join(ROOT, 'lib/index.mjs')).href)
    const { default: everything, ...named } = module
    assert.equal(everything, eagerTls)
    assert.deepEqual(Object.keys(named).sort(), Object.keys(eagerTls).sort())
    for (const [name, value] of Object.entries(named)) {
      assert.equal(value, eagerTls[name], name)
    }
  })
})
