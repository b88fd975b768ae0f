'use strict'

const { parseArgs } = require('node:util')

/**
 * The command line of a script. `--help` prints what there is and ends.
 *
 * @param {object} options as util.parseArgs takes them
 * @param {string} help
 * @returns {object} values by name
 * @throws {Error} for what is not among the options
 */
function readArguments (options, help) {
  const { values } = parseArgs({
    options: { ...options, help: { type: 'boolean', short: 'h' } }
  })
  if (values.help) {
    console.log(help)
    process.exit()
  }
  return values
}

/** @throws {Error} unless it is a whole number from 1 on */
function positive (name, value) {
  if (/^[1-9]\d*$/.test(value)) return Number(value)
  throw new Error(`--${name} takes a number: ${value}`)
}

/** @throws {Error} unless it is a name in the table */
function oneOf (name, value, table) {
  if (Object.hasOwn(table, value)) return
  throw new Error(`--${name} ${value}: there are ${Object.keys(table).join(', ')}`)
}

module.exports = { oneOf, positive, readArguments }
