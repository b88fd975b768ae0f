'use strict'

/** docs/compat.md and the tests that name its rows. */

const assert = require('node:assert/strict')
const fs = require('node:fs')
const path = require('node:path')

const TESTS = path.join(__dirname, '..')
const text = fs.readFileSync(path.join(TESTS, '../docs/compat.md'), 'utf8')

const rows = text.split('\n')
  .filter((line) => line.startsWith('| ') && !line.startsWith('| What '))
  .map((line) => line.slice(2, -2).split(' | ').map((cell) => cell.trim()))

/** Names of rows that a test file mentions. */
function namedIn (file) {
  const source = fs.readFileSync(file, 'utf8')
  return [...source.matchAll(/\bRow "([^"(]+[^"]*)"/g)].map(([, name]) => name)
}

describe('docs/compat.md', () => {
  it('says of each difference what, how, and which test', () => {
    assert.ok(rows.length > 30)
    for (const row of rows) {
      assert.equal(row.length, 5, row[0])
      for (const cell of row) assert.notEqual(cell, '', row[0])
    }
    const names = rows.map(([name]) => name)
    assert.equal(new Set(names).size, names.length)
  })

  for (const [name, , , , test] of rows) {
    it(`has a test for "${name}" that names it`, () => {
      const file = path.join(TESTS, `${test}.test.js`)
      assert.ok(fs.existsSync(file), `${test}.test.js`)
      assert.ok(namedIn(file).includes(name), `${test}.test.js does not name it`)
    })
  }

  it('has all rows that tests name', () => {
    const names = rows.map(([name]) => name)
    for (const dir of ['compat', 'unit']) {
      for (const file of fs.readdirSync(path.join(TESTS, dir))) {
        for (const name of namedIn(path.join(TESTS, dir, file))) {
          assert.ok(names.includes(name), `${dir}/${file}: "${name}"`)
        }
      }
    }
  })
})
