'use strict'

/**
 * Empty projects that the packed tarball is installed into.
 */

const fs = require('node:fs')
const path = require('node:path')

const { directory, packed } = require('./packed')
const { mustRun, run } = require('./run')

const fixtures = path.join(__dirname, '..', 'fixtures')
let count = 0

/** Where the PATH has a command. */
function which (name) {
  const found = process.env.PATH.split(path.delimiter)
    .map((dir) => path.join(dir, name))
    .find((file) => fs.existsSync(file))
  if (found === undefined) throw new Error(`${name} is not on the PATH`)
  return fs.realpathSync(found)
}

let barePath

/**
 * A PATH with node, npm, npx and the shell that npm runs scripts with: no
 * compiler, no make, no Python.
 */
function bare () {
  if (barePath === undefined) {
    barePath = path.join(directory, 'bin')
    fs.mkdirSync(barePath)
    fs.symlinkSync(process.execPath, path.join(barePath, 'node'))
    for (const name of ['npm', 'npx', 'sh']) {
      fs.symlinkSync(which(name), path.join(barePath, name))
    }
  }
  return barePath
}

/** An environment in which nothing of this run shows. */
function environment (more = {}) {
  const env = {
    PATH: process.env.PATH,
    HOME: process.env.HOME,
    TMPDIR: process.env.TMPDIR,
    npm_config_update_notifier: 'false',
    npm_config_audit: 'false',
    npm_config_fund: 'false',
    ...more
  }
  for (const name of Object.keys(env)) {
    if (env[name] === undefined) delete env[name]
  }
  return env
}

class Project {
  constructor (dir, env) {
    this.dir = dir
    this.env = env
  }

  /** Where the package has been installed. */
  get installed () {
    return path.join(this.dir, 'node_modules', 'eager-tls')
  }

  /** The package's binaries. */
  get binaries () {
    const prebuilds = path.join(this.installed, 'prebuilds')
    return fs.readdirSync(prebuilds, { recursive: true })
      .filter((name) => name.endsWith('.node'))
      .map((name) => path.join(prebuilds, name))
  }

  /** Writes files of the project, by name. */
  write (files) {
    for (const [name, content] of Object.entries(files)) {
      const file = path.join(this.dir, name)
      fs.mkdirSync(path.dirname(file), { recursive: true })
      fs.writeFileSync(file, content)
    }
  }

  /** Runs a command in the project, with its environment. */
  run (command, { env = {}, ...options } = {}) {
    return run(command, {
      cwd: this.dir, env: environment({ ...this.env, ...env }), ...options
    })
  }

  /** Runs node in the project. */
  node (args, options = {}) {
    const { node = process.execPath } = options
    return this.run([node, ...args], options)
  }

  /** Runs node, and has what it printed as JSON, which has to be all of it. */
  async json (args, options) {
    const { status, signal, stdout, stderr } = await this.node(args, options)
    if (status !== 0 || stderr !== '') {
      throw new Error(`node ${args.join(' ')}: ended with ${signal ?? status}\n` +
        `${stdout}${stderr}`)
    }
    return JSON.parse(stdout)
  }
}

/**
 * @param {object} [options]
 * @param {string[]} [options.install] further arguments of `npm install`
 * @param {boolean} [options.tools] with a compiler on the PATH
 * @param {(tree: string) => void} [options.change] changes the unpacked package
 *   before it is installed
 * @returns {Promise<Project>} with the fixtures in it, and `output`: what npm
 *   printed
 */
async function makeProject ({ install = [], tools = false, change } = {}) {
  const { tarball, dependencies } = await packed()
  const base = path.join(directory, `project-${++count}`)
  const dir = path.join(base, 'app')
  fs.cpSync(fixtures, dir, { recursive: true })
  let spec = tarball
  if (change !== undefined) {
    fs.mkdirSync(path.join(base, 'changed'))
    await mustRun(['tar', '-xzf', tarball, '-C', path.join(base, 'changed')])
    change(path.join(base, 'changed', 'package'))
    spec = path.join(base, 'changed.tgz')
    await mustRun(['tar', '-czf', spec, '-C', path.join(base, 'changed'), 'package'])
  }
  const project = new Project(dir, tools ? {} : { PATH: bare() })
  project.write({
    'package.json': JSON.stringify({
      name: 'app',
      private: true,
      dependencies: { 'eager-tls': `file:${spec}`, ...fileSpecs(dependencies) }
    })
  })
  const { stdout, stderr } = await mustRun(
    ['npm', 'install', '--offline', ...install],
    { cwd: dir, env: environment(project.env) })
  project.output = stdout + stderr
  return project
}

function fileSpecs (tarballs) {
  return Object.fromEntries(Object.entries(tarballs)
    .map(([name, file]) => [name, `file:${file}`]))
}

let plain

/** One for those who change nothing in it. */
function sharedProject () {
  plain ??= makeProject()
  return plain
}

module.exports = { makeProject, sharedProject }
