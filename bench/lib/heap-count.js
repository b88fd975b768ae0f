'use strict'

/**
 * The counting allocator of heap-count.c: built on demand, and its reports with
 * names instead of addresses.
 */

const { execFileSync } = require('node:child_process')
const fs = require('node:fs')
const path = require('node:path')

const bench = path.join(__dirname, '..')
const source = path.join(bench, 'heap-count.c')
const library = path.join(bench, '.build', 'heap-count.node')

/** @returns {string} the library to put into LD_PRELOAD and to load */
function ensureHeapCount () {
  if (fs.existsSync(library) &&
      fs.statSync(library).mtimeMs >= fs.statSync(source).mtimeMs) return library
  fs.mkdirSync(path.dirname(library), { recursive: true })
  const headers = require('node-api-headers').include_dir
  execFileSync(process.env.CC ?? 'cc', [
    '-std=c11', '-D_GNU_SOURCE', '-DNAPI_VERSION=8', '-O1', '-Wall', '-Wextra',
    '-shared', '-fPIC', '-I', headers, '-o', library, source, '-lpthread', '-ldl'
  ], { stdio: ['ignore', 'inherit', 'inherit'] })
  return library
}

/** [addresses, names] of the functions of a binary, in ascending order. */
function readSymbols (file) {
  let text = ''
  for (const how of [[], ['-D']]) {
    try {
      text = execFileSync('nm', [...how, '-C', '-n', '--defined-only', file], {
        encoding: 'utf8', maxBuffer: 2 ** 30, stdio: ['ignore', 'pipe', 'ignore']
      })
    } catch {
      continue
    }
    if (text !== '') break
  }
  const addresses = []
  const names = []
  for (const match of text.matchAll(/^([0-9a-f]+) [tTwWuiV] ([^\n]+)$/gm)) {
    if (match[2].startsWith('.')) continue
    addresses.push(Number.parseInt(match[1], 16))
    names.push(match[2])
  }
  return { addresses, names }
}

/** Whether addresses in it are those at run time (ET_EXEC). */
function isExecutable (file) {
  const header = Buffer.alloc(18)
  const fd = fs.openSync(file, 'r')
  fs.readSync(fd, header, 0, 18, 0)
  fs.closeSync(fd)
  return header.readUInt16LE(16) === 2
}

/** [{ from, to, file, bias }]: what is mapped where, from /proc/PID/maps */
function readMaps (text) {
  const starts = new Map()
  const maps = []
  const pattern = /^([0-9a-f]+)-([0-9a-f]+) \S+ ([0-9a-f]+) \S+ \d+ +(\/.*)$/gm
  for (const [, from, to, offset, file] of text.matchAll(pattern)) {
    if (!fs.existsSync(file)) continue
    const start = Number.parseInt(from, 16)
    if (!starts.has(file)) {
      starts.set(file, isExecutable(file) ? 0 : start - Number.parseInt(offset, 16))
    }
    maps.push({
      from: start, to: Number.parseInt(to, 16), file, bias: starts.get(file)
    })
  }
  return maps
}

class Symbols {
  #maps
  #modules = new Map()
  #names = new Map()

  constructor (maps) {
    this.#maps = maps
  }

  /** The function at an address in hex, or the address. */
  nameOf (address) {
    if (!this.#names.has(address)) {
      this.#names.set(address, this.#lookUp(Number.parseInt(address, 16)) ?? address)
    }
    return this.#names.get(address)
  }

  #lookUp (address) {
    const map = this.#maps.find(({ from, to }) => from <= address && address < to)
    if (map === undefined) return null
    const { file, bias } = map
    if (!this.#modules.has(file)) this.#modules.set(file, readSymbols(file))
    const { addresses, names } = this.#modules.get(file)
    let low = 0
    let high = addresses.length
    while (low < high) {
      const middle = (low + high) >> 1
      if (addresses[middle] <= address - bias) low = middle + 1
      else high = middle
    }
    if (low === 0) return null
    return /eager_tls[^/]*\.node$/.test(file)
      ? `eager_tls: ${names[low - 1]}`
      : names[low - 1]
  }
}

/**
 * @param {string} file written by report()
 * @param {string} maps the process's /proc/self/maps
 * @returns {{ size: number, stack: string[] }[]} innermost function first
 */
function readReport (file, maps) {
  const symbols = new Symbols(readMaps(maps))
  return fs.readFileSync(file, 'utf8').trimEnd().split('\n').map((line) => {
    const [size, ...frames] = line.split(' ')
    return { size: Number(size), stack: frames.map((frame) => symbols.nameOf(frame)) }
  })
}

module.exports = { ensureHeapCount, readReport }
