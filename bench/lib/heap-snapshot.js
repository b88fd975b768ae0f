'use strict'

/**
 * What the JavaScript heap holds, by kind of object, from a heap snapshot.
 */

const { text } = require('node:stream/consumers')
const v8 = require('node:v8')

/** @returns {Promise<Map<string, number>>} bytes by kind */
async function countHeap () {
  const { snapshot, nodes, strings } =
    JSON.parse(await text(v8.getHeapSnapshot()))
  const { node_fields: fields, node_types: [types] } = snapshot.meta
  const at = (field) => fields.indexOf(field)
  const [type, name, size] = [at('type'), at('name'), at('self_size')]
  const sums = new Map()
  for (let i = 0; i < nodes.length; i += fields.length) {
    const kind = types[nodes[i + type]]
    // Names of strings and code are their content.
    const named = kind === 'object' || kind === 'native' || kind === 'closure'
    const key = named ? `${kind} ${strings[nodes[i + name]] || '(anonymous)'}` : kind
    sums.set(key, (sums.get(key) ?? 0) + nodes[i + size])
  }
  return sums
}

/** What the second count has more than the first one, the most first. */
function difference (before, after) {
  return [...after].map(([key, bytes]) => [key, bytes - (before.get(key) ?? 0)])
    .filter(([, bytes]) => bytes !== 0)
    .sort(([, a], [, b]) => b - a)
}

module.exports = { countHeap, difference }
