'use strict'

const assert = require('node:assert/strict')
const fs = require('node:fs')
const path = require('node:path')

const { DIGEST_LENGTH, OPTION, STATE, STATE_NAMES } =
  require('../../lib/constants')

const header = fs.readFileSync(
  path.join(__dirname, '../../src/core/eager_tls.h'), 'utf8')

/** The members of an enum of the core's header, without their prefix. */
function readEnum (name, prefix) {
  const [, body] = new RegExp(`enum ${name} \\{([^}]*)\\};`).exec(header)
  const members = body.matchAll(new RegExp(`${prefix}(\\w+) = (\\d+)`, 'g'))
  return Object.fromEntries(
    Array.from(members, ([, member, value]) => [member, Number(value)]))
}

describe('constants', () => {
  it('number the options as the core does', () => {
    assert.deepEqual(readEnum('etls_option', 'ETLS_OPTION_'), { ...OPTION })
  })

  it('number the states as the core does', () => {
    assert.deepEqual(readEnum('etls_state', 'ETLS_STATE_'), { ...STATE })
    STATE_NAMES.forEach((name, index) => assert.equal(STATE[name], index))
  })

  it('have the length of a digest', () => {
    assert.match(header, new RegExp(`ETLS_DIGEST_LEN = ${DIGEST_LENGTH} `))
  })
})
