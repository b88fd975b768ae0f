'use strict'

const fs = require('node:fs')
const path = require('node:path')

/** Debian's libjemalloc2, wherever this architecture has it. */
function findJemalloc () {
  for (const dir of ['/usr/lib', '/usr/local/lib']) {
    if (!fs.existsSync(dir)) continue
    const places = [dir, ...fs.readdirSync(dir, { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map((entry) => path.join(dir, entry.name))]
    const found = places.map((place) => path.join(place, 'libjemalloc.so.2'))
      .find((file) => fs.existsSync(file))
    if (found) return found
  }
  throw new Error('libjemalloc.so.2 is not installed (Debian: libjemalloc2)')
}

/**
 * The environment of a process that uses an allocator.
 *
 * @param {'glibc' | 'jemalloc'} name
 * @param {string | undefined} arenas glibc's MALLOC_ARENA_MAX
 */
function allocatorEnv (name, arenas) {
  const env = arenas === undefined ? {} : { MALLOC_ARENA_MAX: arenas }
  if (name === 'glibc') return env
  if (name === 'jemalloc') return { ...env, LD_PRELOAD: findJemalloc() }
  throw new Error(`no such allocator: ${name}; there are glibc, jemalloc`)
}

module.exports = { allocatorEnv }
