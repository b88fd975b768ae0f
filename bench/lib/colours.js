'use strict'

// One colour for a contender in all charts, on light and on dark ground. What
// is compared with is warm or grey, this package is blue and green.
const colours = {
  'node-own': '#d1242f',
  'node-shared': '#e16f24',
  'node-shared-sessions': '#bf8700',
  'eager-fd': '#2f81f7',
  'eager-stream': '#39a5b5',
  'eager-node': '#8256d0',
  'eager-single-use': '#2da44e',
  'eager-bare': '#0969da',
  bun: '#bf4b8a',
  plain: '#7d8590',
  'plain-loaded': '#9198a1',
  floor: '#57606a',
  node: '#d1242f',
  eager: '#2f81f7'
}

const others = ['#2f81f7', '#d1242f', '#2da44e', '#bf8700', '#8256d0', '#e16f24']

/** @param {string} name a contender, or anything else by its position */
function colourOf (name, index) {
  return colours[name] ?? others[index % others.length]
}

module.exports = { colourOf }
