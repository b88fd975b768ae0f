'use strict'

const assert = require('node:assert/strict')
const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const { ensureInstalled } = require('../../bench/lib/install')
const { exec, root } = require('../runner/exec')

function run (name, ...args) {
  return exec([process.execPath, path.join(root, 'bench', name), ...args], {
    quiet: true
  })
}

/** The cells of a row of a table by the row's head. */
function row (output, head) {
  const line = output.split('\n').find((line) => line.startsWith(head))
  return line.slice(head.length).trim().split(/ {2,}/)
}

describe('the scripts of the benchmarks', () => {
  let dir

  before('install what charts are drawn with', function () {
    this.timeout(180_000)
    ensureInstalled()
    dir = fs.mkdtempSync(path.join(os.tmpdir(), 'eager-tls-bench-'))
  })

  after(() => fs.rmSync(dir, { recursive: true, force: true }))

  it('npm run demo shows one context for 200 upgrades beside 200', async function () {
    this.timeout(60_000)
    const { ok, output } = await run('demo.js')
    assert.ok(ok, output)
    assert.deepEqual(row(output, 'backend'), ['native', 'node'])
    assert.deepEqual(row(output, 'protocol'), ['TLSv1.3', 'TLSv1.3'])
    assert.deepEqual(row(output, 'upgrades, all verified'), ['200', '200'])
    assert.deepEqual(row(output, 'contexts created'), ['1', '200'])
    assert.deepEqual(row(output, 'handshakes resumed'), ['199', '0'])
    assert.ok(!output.includes('\x1b'), 'escape sequences without a terminal')
  })

  it('npm run bench keeps samples that npm run bench:report renders', async function () {
    this.timeout(120_000)
    const some = ['--case', 'upgrade-full', '--rounds', '2', '--count', '3']
    const ran = await run('run.js', ...some, '--out', dir, '--contender',
      'node-own', '--contender', 'eager-fd', '--contender', 'floor')
    assert.ok(ran.ok, ran.output)
    const [file] = fs.readdirSync(dir)
    assert.match(file, /^upgrade-full\.node\d+\.partial\.json$/)
    const result = JSON.parse(fs.readFileSync(path.join(dir, file), 'utf8'))
    assert.equal(result.variants.default['eager-fd'].samples.length, 2)
    assert.equal(result.runtime.version, process.versions.node)
    assert.equal(result.runtime.openssl, process.versions.openssl)

    // A part of the contenders is not what the report is made of.
    const refused = await run('report.js', '--results', dir, '--docs', dir)
    assert.equal(refused.ok, false)
    assert.match(refused.output, /no results/)

    fs.renameSync(path.join(dir, file), path.join(dir, file.replace('.partial', '')))
    const rendered = await run('report.js', '--results', dir, '--docs', dir)
    assert.ok(rendered.ok, rendered.output)
    const text = fs.readFileSync(path.join(dir, 'benchmarks.md'), 'utf8')
    assert.match(text, /^\| `eager-fd` \| [\d,.]+ \| \d+ % \|/m)
    assert.match(text, /!\[.*\]\(benchmarks\/upgrade-full\.svg\)/)
    const svg = fs.readFileSync(
      path.join(dir, 'benchmarks', 'upgrade-full.svg'), 'utf8')
    assert.match(svg, /prefers-color-scheme:dark/)
    assert.match(svg, /eager-fd/)
  })

  it('npm run bench:rss compares with plain TCP', async function () {
    this.timeout(120_000)
    const { ok, output } = await run('rss.js', '--count', '5', '--rounds', '1')
    assert.ok(ok, output)
    assert.equal(output.match(/^plain /gm).length, 3)
    assert.equal(output.match(/^eager-fd /gm).length, 3)
  })

  it('npm run bench:sizes splits a connection', async function () {
    this.timeout(120_000)
    const { ok, output } = await run('sizes.js', '--count', '10',
      '--contender', 'eager-fd', '--stacks', '1')
    assert.ok(ok, output)
    for (const part of ['SSL object', 'peer certificates', 'this package, C']) {
      assert.match(output, new RegExp(`^${part} +[\\d.]+ +[\\d.]+$`, 'm'))
    }
    assert.match(output, /^object TLSSocket +[\d.]+$/m)
  })

  it('npm run bench:micro measures each shape of the options', async function () {
    this.timeout(60_000)
    const { ok, output } = await run('micro.js', '--time', '1')
    assert.ok(ok, output)
    assert.equal(output.match(/^(eager-tls|node:tls): .* \d/gm).length, 12)
  })

  it('npm run bench -- --list names the cases', async () => {
    const { ok, output } = await run('run.js', '--list')
    assert.ok(ok)
    assert.match(output, /^storm: /m)
  })

  it('npm run bench refuses what it does not know', async () => {
    for (const args of [['--case', 'x'], ['--contender', 'x'], ['--rounds', 'x']]) {
      const { ok, output } = await run('run.js', ...args)
      assert.equal(ok, false)
      assert.match(output, /: x|--contender x/)
    }
  })

  for (const script of ['run', 'leak', 'rss', 'sizes', 'micro', 'report']) {
    it(`bench/${script}.js --help says which options there are`, async () => {
      const { ok, output } = await run(`${script}.js`, '--help')
      assert.ok(ok)
      assert.match(output, /^npm run bench.* -- \[options\]\n\n {2}--/)
    })
  }
})
