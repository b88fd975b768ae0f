'use strict'

/**
 * The tarball as it would be published, made once for all files of the suite:
 * `npm run prebuild`, then `npm pack`.
 */

const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')

const { mustRun } = require('./run')

const root = path.join(__dirname, '..', '..', '..')
const directory = fs.mkdtempSync(path.join(os.tmpdir(), 'eager-tls-package-'))
after(() => fs.rmSync(directory, { recursive: true }))

const env = { ...process.env, npm_config_update_notifier: 'false' }

/** Packs a directory. */
async function pack (from) {
  const { stdout } = await mustRun(['npm', 'pack', '--json', '--ignore-scripts',
    '--pack-destination', directory, from], { cwd: directory, env })
  const answer = JSON.parse(stdout)
  // npm 11 has one entry in an array, npm 12 one by name.
  const [{ filename, files, size }] = Object.values(answer)
  return {
    tarball: path.join(directory, filename),
    size,
    files: files.map((file) => file.path).sort()
  }
}

let made

/**
 * @returns {Promise<{ tarball: string, size: number, files: string[],
 *   dependencies: Record<string, string> }>} `dependencies`: the tarballs of
 *   what the package needs besides, so that installing asks no registry
 */
function packed () {
  made ??= (async () => {
    await mustRun([process.execPath, 'scripts/prebuild.js'], { cwd: root })
    const dependencies = {}
    for (const name of Object.keys(require('../../../package.json').dependencies)) {
      const { tarball } = await pack(path.join(root, 'node_modules', name))
      dependencies[name] = tarball
    }
    return { ...await pack(root), dependencies }
  })()
  return made
}

module.exports = { directory, packed, root }
