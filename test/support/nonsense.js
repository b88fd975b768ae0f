'use strict'

/**
 * Values that hardly any option of tls.connect() is meant to have, by name.
 * They are made anew each time: some of them are streams.
 */

const { EventEmitter } = require('node:events')
const net = require('node:net')
const { PassThrough, Readable, Writable } = require('node:stream')

const simple = {
  undefined,
  null: null,
  false: false,
  true: true,
  '-0': -0,
  1: 1,
  '-1': -1,
  NaN,
  Infinity,
  1.5: 1.5,
  '10n': 10n,
  'a symbol': Symbol('nonsense'),
  'an empty string': '',
  'a string': 'x',
  'a long string': 'l'.repeat(300)
}

const made = {
  'an object': () => ({}),
  'an object without prototype': () => ({ __proto__: null }),
  'an array': () => [],
  'an array of a string': () => ['x'],
  'an array of an empty string': () => [''],
  'an array of null': () => [null],
  'an array of an object': () => [{}],
  'a function': () => () => {},
  'a class': () => class Nonsense {},
  'a Buffer': () => Buffer.from('x'),
  'an empty Buffer': () => Buffer.alloc(0),
  'a Uint8Array': () => new Uint8Array(1),
  'an ArrayBuffer': () => new ArrayBuffer(1),
  'a Date': () => new Date(0),
  'a RegExp': () => /x/,
  'a Map': () => new Map(),
  'a promise': () => Promise.resolve(),
  'an Error': () => new Error('nonsense'),
  'an aborted signal': () => AbortSignal.abort()
}

const streams = {
  'an EventEmitter': () => new EventEmitter(),
  'a Readable': () => new Readable({ read () {} }),
  'a Writable': () => new Writable({ write () {} }),
  'a server': () => net.createServer(),
  'a Duplex that was destroyed': () => new PassThrough().destroy(),
  'a socket without a connection': () => new net.Socket()
}

/** name -> function that makes the value */
const nonsense = {
  ...Object.fromEntries(Object.entries(simple)
    .map(([name, value]) => [name, () => value])),
  ...made
}

module.exports = { nonsense, streams }
