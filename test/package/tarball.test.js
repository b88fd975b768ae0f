'use strict'

const assert = require('node:assert/strict')
const { execFileSync } = require('node:child_process')
const path = require('node:path')

const manifest = require('../../package.json')
const { packed, root } = require('./support/packed')

const PREBUILD = `prebuilds/${process.platform}-${process.arch}/` +
  `eager-tls${process.platform === 'linux' ? '.glibc' : ''}.node`

// Has to be in the tarball, whatever else is.
const needed = [
  'CHANGELOG.md',
  'LICENSE',
  'README.md',
  'bin/eager-tls.js',
  'binding.gyp',
  'deps/uthash/LICENSE',
  'deps/uthash/README.md',
  'deps/uthash/uthash.h',
  'deps/uthash/utlist.h',
  'lib/index.d.mts',
  'lib/index.d.ts',
  'lib/index.js',
  'lib/index.mjs',
  'lib/register.d.ts',
  'lib/register.js',
  'package.json',
  PREBUILD,
  'scripts/install.js',
  'scripts/node-dir.js',
  'src/core/eager_tls.h',
  'src/napi/addon.c',
  'src/warnings.flags'
]

// May be in it.
const allowed = [
  /^docs\/[a-z-]+\.(md|svg|png)$/,
  /^lib\/[a-z-]+\.js$/,
  // Of the other platforms, on a release machine.
  /^prebuilds\/(linux|darwin|win32)-(x64|arm64)\/eager-tls(\.glibc|\.musl)?\.node$/,
  /^src\/(core|napi)\/[a-z_]+\.[ch]$/
]

describe('the tarball', () => {
  let tarball
  before(async function () {
    this.timeout(240_000)
    tarball = await packed()
  })

  it('has the files that it needs', () => {
    assert.deepEqual(needed.filter((file) => !tarball.files.includes(file)), [])
  })

  it('has no others', () => {
    assert.deepEqual(tarball.files.filter((file) => !needed.includes(file) &&
      !allowed.some((pattern) => pattern.test(file))), [])
  })

  it('has all that a build from source reads', () => {
    const sources = execFileSync('git', ['ls-files', 'src', 'deps', 'lib', 'bin'],
      { cwd: root, encoding: 'utf8' }).trim().split('\n')
    assert.deepEqual(
      sources.filter((file) => !tarball.files.includes(file)), [])
  })

  it('is smaller than two megabytes', () => {
    assert.ok(tarball.size < 2e6, `${tarball.size} bytes`)
  })

  it('has a binary without symbols of its own, bound when it is loaded', () => {
    const binary = path.join(root, PREBUILD)
    const readelf = (flag) =>
      execFileSync('readelf', ['-W', flag, binary], { encoding: 'utf8' })
    assert.doesNotMatch(readelf('--sections'), /\.symtab|\.debug_info/)
    const dynamic = readelf('--dynamic')
    assert.match(dynamic, /BIND_NOW/)
    assert.deepEqual([...dynamic.matchAll(/NEEDED.*\[(.*)\]/g)].map((m) => m[1]),
      ['libc.so.6'])
  })

  it('needs no newer glibc than node itself', () => {
    const versions = (file) => [...execFileSync('readelf',
      ['-W', '--version-info', file],
      { encoding: 'utf8', maxBuffer: 1 << 26 }).matchAll(/GLIBC_(\d+)\.(\d+)/g)]
      .map((m) => m[1] * 1000 + Number(m[2]))
    assert.ok(Math.max(...versions(path.join(root, PREBUILD))) <=
      Math.max(...versions(process.execPath)))
  })

  it('depends on little', () => {
    assert.deepEqual(Object.keys(manifest.dependencies), ['node-gyp-build'])
  })
})
