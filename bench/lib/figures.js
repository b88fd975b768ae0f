'use strict'

/**
 * What this package sets out to reach, each as a number that a result gives.
 * `metric` of the contender `of` against that of `against` in the same run;
 * `variant` and `baseVariant` name the variants; `difference` compares by
 * subtraction instead of a ratio.
 */

const { ratioOf, statsOf } = require('./results')

const eager = 'eager-fd'

const bundle = ['fresh Buffer', 'same Buffer', 'string', 'array'].map((variant) => ({
  what: `CPU per upgrade, 120-certificate bundle as ${variant}, against one CA`,
  case: 'upgrade-bundle',
  variant,
  baseVariant: 'one CA',
  metric: 'cpu',
  of: eager,
  against: eager,
  atMost: 1.1
}))

const rss = ['cached', 'single-use'].map((variant) => ({
  what: `growth of RSS over 10,000 upgrades, ${variant}, above plain TCP, MB`,
  case: 'rss',
  variant,
  metric: 'growth',
  of: eager,
  against: 'plain-loaded',
  difference: true,
  atMost: 5
}))

const figures = [
  {
    what: 'CPU per full upgrade, against node:tls with its own context',
    case: 'upgrade-full',
    metric: 'cpu',
    of: eager,
    against: 'node-own',
    atMost: 0.60
  },
  {
    what: 'the same against node:tls with a context shared by hand',
    case: 'upgrade-full',
    metric: 'cpu',
    of: eager,
    against: 'node-shared',
    atMost: 0.80
  },
  {
    what: 'time per full upgrade, against node:tls with its own context',
    case: 'upgrade-full',
    metric: 'wall',
    of: eager,
    against: 'node-own',
    atMost: 0.75
  },
  {
    what: 'CPU per resumed upgrade, against node:tls with its own context',
    case: 'upgrade-resumed',
    metric: 'cpu',
    of: eager,
    against: 'node-own',
    atMost: 0.28
  },
  {
    what: 'the same against node:tls with context and sessions by hand',
    case: 'upgrade-resumed',
    metric: 'cpu',
    of: eager,
    against: 'node-shared-sessions',
    atMost: 0.60
  },
  {
    what: 'the same against a C program that resumes',
    case: 'upgrade-resumed',
    metric: 'cpu',
    of: eager,
    against: 'floor',
    atMost: 1.7
  },
  {
    what: 'the same against Bun',
    case: 'upgrade-resumed',
    metric: 'cpu',
    of: eager,
    against: 'bun',
    atMost: 1
  },
  ...bundle,
  {
    what: 'CPU per small round trip, against node:tls',
    case: 'round-trip',
    metric: 'cpu',
    of: eager,
    against: 'node-own',
    atMost: 0.90
  },
  {
    what: 'CPU per MB received, against node:tls',
    case: 'download',
    metric: 'cpu',
    of: eager,
    against: 'node-own',
    atMost: 0.80
  },
  {
    what: 'CPU per MB sent in writes of 1 MB, against node:tls',
    case: 'upload',
    variant: '1 MB writes',
    metric: 'cpu',
    of: eager,
    against: 'node-own',
    atMost: 0.95
  },
  {
    what: 'RSS per idle connection, against node:tls with its own context',
    case: 'idle-memory',
    variant: 'full',
    metric: 'rss',
    of: eager,
    against: 'node-own',
    atMost: 0.50
  },
  {
    what: 'the same against node:tls with a context shared by hand',
    case: 'idle-memory',
    variant: 'full',
    metric: 'rss',
    of: eager,
    against: 'node-shared',
    atMost: 0.68
  },
  {
    what: 'RSS per idle resumed connection, against node:tls with its own context',
    case: 'idle-memory',
    variant: 'resumed',
    metric: 'rss',
    of: eager,
    against: 'node-own',
    atMost: 0.40
  },
  ...rss
]

/** What the result says of a figure; null where it was not measured. */
function valueOf (figure, result) {
  const { variant = 'default', baseVariant = variant, metric } = figure
  const entry = result?.variants[variant]?.[figure.of]
  const base = result?.variants[baseVariant]?.[figure.against]
  if (!figure.difference) return ratioOf(entry, base, metric)
  const value = statsOf(entry, metric)
  const other = statsOf(base, metric)
  return value === null || other === null ? null : value.median - other.median
}

module.exports = { figures, valueOf }
