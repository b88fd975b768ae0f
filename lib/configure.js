'use strict'

/**
 * configure(): the settings of this environment. A change is checked as a
 * whole before any of it is made.
 */

const { OFFLOADS, TIMEOUT_MAX } = require('./constants')
const { ERR_INVALID_ARG_TYPE, ERR_INVALID_ARG_VALUE } = require('./errors')
const { validateBoolean, validateInteger, validateOneOf } =
  require('./own-options')

// More than any process can hold, and exact in every representation.
const COUNT_MAX = 2 ** 31 - 1

const count = (value, name) => validateInteger(value, name, 0, COUNT_MAX)
const milliseconds = (value, name) =>
  validateInteger(value, name, 0, TIMEOUT_MAX)

// Each leaf: [default, check].
const SETTINGS = {
  contexts: {
    max: [256, count],
    idleTimeout: [300_000, milliseconds]
  },
  sessions: {
    enabled: [true, validateBoolean],
    maxPeers: [1024, count],
    perPeer: [8, count],
    timeout: [7_200_000, milliseconds]
  },
  offload: ['auto', (value, name) => validateOneOf(value, name, OFFLOADS)]
}

function defaultsOf (table) {
  const result = {}
  for (const [name, entry] of Object.entries(table)) {
    result[name] = Array.isArray(entry) ? entry[0] : defaultsOf(entry)
  }
  return result
}

/** Settings with the given changes, as new objects. Throws for a wrong one. */
function merged (table, current, changes, path) {
  if (typeof changes !== 'object' || changes === null ||
      Array.isArray(changes)) {
    throw new ERR_INVALID_ARG_TYPE(path, 'object', changes)
  }
  for (const name of Object.keys(changes)) {
    if (!Object.hasOwn(table, name)) {
      throw new ERR_INVALID_ARG_VALUE(`${path}.${name}`, changes[name],
        'is not a setting')
    }
  }
  const result = {}
  for (const [name, entry] of Object.entries(table)) {
    const value = changes[name]
    const fullName = `${path}.${name}`
    if (!Array.isArray(entry)) {
      result[name] =
        merged(entry, current[name], value === undefined ? {} : value, fullName)
    } else if (value === undefined) {
      result[name] = current[name]
    } else {
      entry[1](value, fullName)
      result[name] = value
    }
  }
  return result
}

/**
 * @param {(settings: object) => void} apply puts settings in force; called
 *   with the defaults at once, and then with every change
 * @param {{ settings?: object }} [store] keeps what is in force; where it does
 *   so already, that stays
 * @returns {(changes?: object) => object} configure(): gives the settings in
 *   force, as an object that nobody else has
 */
function createConfigure (apply, store = {}) {
  if (store.settings === undefined) {
    store.settings = defaultsOf(SETTINGS)
    apply(store.settings)
  }
  return function configure (changes) {
    const next = merged(SETTINGS, store.settings,
      changes === undefined ? {} : changes, 'settings')
    if (changes !== undefined) apply(next)
    store.settings = next
    return structuredClone(next)
  }
}

module.exports = { createConfigure, defaultSettings: () => defaultsOf(SETTINGS) }
