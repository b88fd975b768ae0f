'use strict'

const assert = require('node:assert/strict')
const { spawnSync } = require('node:child_process')
const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')

const { STATE_NAMES } = require('../../lib/constants')

const ROOT = path.join(__dirname, '../..')
const LIB = path.join(ROOT, 'lib')

/** Runs lib/native.js of a copy of the package in a process of its own. */
function loadIn (lib, { env = {}, args = [], prelude = '' } = {}) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [...args,
    '-e', `${prelude}
      const { binding, reason } =
        require(${JSON.stringify(path.join(lib, 'native.js'))})
      console.log(JSON.stringify({ loaded: binding !== null, reason }))`],
  { encoding: 'utf8', env: { ...process.env, EAGER_TLS_BACKEND: '', ...env } })
  return status === 0 ? JSON.parse(stdout) : { stderr }
}

describe('the native core', () => {
  let directory
  beforeEach(() => {
    directory = fs.mkdtempSync(path.join(os.tmpdir(), 'eager-tls-native-'))
  })
  afterEach(() => fs.rmSync(directory, { recursive: true }))

  /** A package without binaries; `binary` is put where one is looked for. */
  function makePackage (binary) {
    const root = path.join(directory, 'eager-tls')
    fs.cpSync(LIB, path.join(root, 'lib'), { recursive: true })
    fs.copyFileSync(path.join(ROOT, 'package.json'),
      path.join(root, 'package.json'))
    fs.cpSync(path.join(ROOT, 'node_modules/node-gyp-build'),
      path.join(root, 'node_modules/node-gyp-build'), { recursive: true })
    if (binary !== undefined) putBinary(root, binary)
    return path.join(root, 'lib')
  }

  function putBinary (root, binary) {
    const prebuilds = path.join(root, 'prebuilds',
      `${process.platform}-${process.arch}`)
    fs.mkdirSync(prebuilds, { recursive: true })
    fs.writeFileSync(path.join(prebuilds, 'eager-tls.node'), binary)
  }

  const refused = {
    'when the fallback is asked for': [{ backend: 'node' },
      /EAGER_TLS_BACKEND=node/],
    'on Bun': [{ versions: { bun: '1.2.3', napi: '9' } }, /Bun/],
    'on Electron': [{ versions: { electron: '30.0.0', napi: '9' } },
      /Electron/],
    'on Deno': [{ isDeno: true }, /Deno/],
    'on Deno as process.versions has it': [
      { versions: { deno: '2.0.0', napi: '9' } }, /Deno/],
    'with Node-API 7': [{ versions: { napi: '7' } }, /8 is needed.* has 7/],
    'without Node-API': [{ versions: {} }, /8 is needed.* has none/]
  }
  for (const [when, [runtime, expected]] of Object.entries(refused)) {
    it(`is not even tried ${when}`, () => {
      const { findRefusal } = require('../../lib/native')
      assert.match(findRefusal({
        versions: { napi: '9' }, isDeno: false, ...runtime
      }), expected)
    })
  }

  it('is tried with Node-API 8 and later', () => {
    const { findRefusal } = require('../../lib/native')
    for (const napi of ['8', '9', '10', '11']) {
      for (const backend of [undefined, '', 'native', 'other']) {
        assert.equal(
          findRefusal({ versions: { napi }, isDeno: false, backend }), null)
      }
    }
  })

  it('is not there in a package without binaries', () => {
    const { loaded, reason } = loadIn(makePackage())
    assert.equal(loaded, false)
    assert.match(reason, /^No binary for \w+-\w+ was found in .*npm rebuild eager-tls/)
  })

  it('is refused if its file is no library', () => {
    const { loaded, reason } = loadIn(makePackage('not a library'))
    assert.equal(loaded, false)
    assert.match(reason, /^The binary .*eager-tls\.node cannot be loaded: ./)
    assert.equal(reason.includes('\n'), false)
  })

  it('is refused if it lacks a symbol', () => {
    const source = path.join(directory, 'broken.c')
    const binary = path.join(directory, 'broken.node')
    fs.writeFileSync(source, `
      int eager_tls_no_such_function(void);
      void *napi_register_module_v1(void *env, void *exports) {
        (void)env;
        return eager_tls_no_such_function() == 0 ? exports : exports;
      }`)
    const { status, error } = spawnSync('cc', ['-shared', '-fPIC',
      '-Wl,-z,now', source, '-o', binary])
    assert.equal(status, 0, `a C compiler is needed: ${error}`)
    const { loaded, reason } = loadIn(makePackage(fs.readFileSync(binary)))
    assert.equal(loaded, false)
    assert.match(reason, /cannot be loaded: .*eager_tls_no_such_function/)
  })

  it('is refused with --no-addons', () => {
    const { loaded, reason } = loadIn(makePackage('x'),
      { args: ['--no-addons'] })
    assert.equal(loaded, false)
    assert.match(reason, /addons? .*disabled/)
  })

  it('is refused under the permission model', () => {
    const flag = Number(process.versions.node.split('.')[0]) < 24
      ? '--experimental-permission'
      : '--permission'
    const { loaded, reason, stderr } = loadIn(makePackage('x'),
      { args: [flag, '--allow-fs-read=*'] })
    assert.equal(loaded, false, stderr)
    assert.match(reason, /cannot be loaded: .*disabled/)
  })

  it('makes loading fail if it is missing and demanded', () => {
    const { stderr } = loadIn(makePackage(),
      { env: { EAGER_TLS_BACKEND: 'native' } })
    assert.match(stderr, /EAGER_TLS_BACKEND=native, but there is no native core: No binary/)
    assert.match(stderr, /code: 'ERR_EAGER_TLS_INTERNAL'/)
  })

  it('is not used if the fallback is demanded', () => {
    assert.deepEqual(loadIn(LIB, { env: { EAGER_TLS_BACKEND: 'node' } }), {
      loaded: false, reason: 'EAGER_TLS_BACKEND=node asks for it.'
    })
  })

  describe('in a bundle', () => {
    /** The package's files moved to where a bundler would put them. */
    function makeBundle () {
      const lib = makePackage()
      const output = path.join(directory, 'app', 'dist')
      fs.cpSync(lib, output, { recursive: true })
      fs.cpSync(path.join(lib, '..', 'node_modules'),
        path.join(directory, 'app', 'dist', 'node_modules'),
        { recursive: true })
      fs.writeFileSync(path.join(directory, 'app', 'package.json'),
        '{ "name": "app" }')
      return output
    }

    it('says that bundling separated it from its binary', () => {
      const { loaded, reason } = loadIn(makeBundle())
      assert.equal(loaded, false)
      assert.match(reason, /when bundling, leave eager-tls out of the bundle/)
    })

    it('is looked for beside the bundle', () => {
      const output = makeBundle()
      putBinary(output, 'not a library')
      assert.match(loadIn(output).reason,
        /app.dist.prebuilds.*eager-tls\.node cannot be loaded/)
    })

    it('is looked for in a package that is still installed', () => {
      const output = makeBundle()
      const installed = path.join(directory, 'app/node_modules/eager-tls')
      fs.cpSync(path.join(directory, 'eager-tls'), installed,
        { recursive: true })
      putBinary(installed, 'not a library')
      assert.match(loadIn(output).reason,
        /app.node_modules.eager-tls.prebuilds.* cannot be loaded/)
    })
  })

  it('knows the states of the engine by the same names', function () {
    const { binding, reason } = require('../../lib/native')
    // On the fallback there is nothing to compare with.
    if (binding === null) assert.equal(typeof reason, 'string')
    else assert.deepEqual([...binding.states], STATE_NAMES)
  })
})
