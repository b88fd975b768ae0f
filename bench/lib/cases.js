'use strict'

/**
 * The cases by name, in the order in which they are run and reported. Each
 * module in bench/cases has
 *
 *   title       what it measures, one line
 *   metrics     { name: [what, unit] }; the first one is what is compared
 *   contenders  names
 *   count       operations of one round
 *   rounds      if not 5
 *   smoke       the same, for a run that only shows that it works
 *   fresh       a process per round instead of one for all rounds
 *   nodeArgs    arguments of node
 *   bundle      needs the bundle of 120 roots
 *   variants    { name: wants }; without it there is one, 'default'
 *   charts      the variants that charts are drawn of, if not all
 *   wants       { resume, mtls, singleUse }
 *   floor       arguments of the C program, if it takes part
 *   warmUp(bench, count), round(bench, count) -> samples by metric
 */

const names = [
  'upgrade-full',
  'upgrade-resumed',
  'upgrade-bundle',
  'upgrade-mtls',
  'upgrade-single-use',
  'storm',
  'idle-memory',
  'rss',
  'download',
  'upload',
  'round-trip',
  'mixed'
]

function loadCase (name) {
  if (!names.includes(name)) throw new Error(`no such case: ${name}`)
  return require(`../cases/${name}`)
}

module.exports = { loadCase, names }
