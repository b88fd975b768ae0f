'use strict'

const neostandard = require('neostandard')

module.exports = [
  ...neostandard({
    env: ['mocha'],
    ignores: ['build/', '.prebuild/', '.sanitized/', '.runtimes/', 'test/.pki/', 'test/.servers/', 'prebuilds/', 'bench/results/'],
    ts: true
  }),
  {
    files: ['**/*.js'],
    languageOptions: { sourceType: 'commonjs' },
    rules: {
      strict: ['error', 'global'],
      'no-restricted-syntax': ['error', {
        selector: "CallExpression[callee.object.name='process'][callee.property.name='binding']",
        message: 'node\'s internals are out of bounds'
      }]
    }
  }
]
