'use strict'

const assert = require('node:assert/strict')
const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const { ensureInstalled } = require('../../bench/lib/install')
const { preludes } = require('../../bench/lib/client-preludes')
const { exec, root } = require('../runner/exec')

const node = process.execPath
const script = path.join(root, 'bench', 'leak.js')

describe('npm run bench:leak', () => {
  let dir

  before('install what charts are drawn with', function () {
    this.timeout(180_000)
    ensureInstalled()
    dir = fs.mkdtempSync(path.join(os.tmpdir(), 'eager-tls-leak-'))
  })

  after(() => fs.rmSync(dir, { recursive: true, force: true }))

  function leak (...args) {
    return exec([node, script, '--out', dir, ...args], { quiet: true })
  }

  it('compares all contenders and writes a page that needs nothing else', async function () {
    this.timeout(120_000)
    const { ok, output } = await leak('--cycles', '30', '--interval', '5')
    assert.ok(ok, output)
    for (const name of ['plain', 'node-own', 'node-shared', 'eager', 'eager-single-use']) {
      assert.match(output, new RegExp(`^${name}: (flat|grows by )`, 'm'))
    }
    const page = fs.readFileSync(path.join(dir, 'report.html'), 'utf8')
    assert.equal(page.match(/<svg /g).length, 5)
    assert.doesNotMatch(page, /(src|href)="?https?:/)
    assert.deepEqual(fs.readdirSync(dir).sort(), [
      'connections.svg', 'contexts.svg', 'external.svg', 'heap.svg',
      'report.html', 'rss.svg'
    ])
  })

  for (const protocol of Object.keys(preludes)) {
    it(`upgrades after the prelude of ${protocol}`, async function () {
      this.timeout(60_000)
      const { ok, output } = await leak('--cycles', '4', '--interval', '1',
        '--starttls', protocol, '--contender', 'eager', '--contender', 'plain')
      assert.ok(ok, output)
      assert.match(output, /^eager +\S+ +\S+ +\S+ +1 +1 +0 /m)
    })
  }

  it('says which options there are', async () => {
    const { ok, output } = await leak('--help')
    assert.ok(ok)
    assert.match(output, /--starttls PROTOCOL/)
  })

  it('refuses what it does not know', async () => {
    const tries = [
      ['--starttls', 'gopher'], ['--driver', 'none'], ['--contender', 'x'],
      ['--cycles', '0'], ['--server', 'nowhere'], ['--allocator', 'tcmalloc']
    ]
    for (const args of tries) {
      const { ok, output } = await leak(...args)
      assert.equal(ok, false, args.join(' '))
      assert.match(output, new RegExp(args[1]), args.join(' '))
    }
  })
})
