'use strict'

/**
 * One connection through a database driver: `cycle(target)` connects with TLS,
 * asks for something small, checks the answer and closes. Drivers are found
 * where the user's own code would find them, else in this project.
 *
 * target: { host, port, user, password, database, ca, servername, insecure }
 */

const { createRequire } = require('node:module')
const path = require('node:path')

function load (name) {
  for (const from of [path.join(process.cwd(), 'noop.js'), __filename]) {
    try {
      return createRequire(from)(name)
    } catch (error) {
      if (error.code !== 'MODULE_NOT_FOUND') throw error
    }
  }
  throw new Error(`the driver ${name} is not installed`)
}

function tlsOptions ({ ca, servername, insecure }) {
  return { ca, servername, rejectUnauthorized: !insecure }
}

function check (value) {
  if (Number(value) !== 1) throw new Error(`the server answered ${value}`)
}

const login = ({ host, port, user, password, database }) =>
  ({ host, port, user, password, database })

/** name: { server: what a server of one's own is, load() -> cycle(target) } */
const drivers = {
  pg: {
    server: 'postgresql',
    load () {
      const { Client } = load('pg')
      return async (target) => {
        const client = new Client({ ...login(target), ssl: tlsOptions(target) })
        await client.connect()
        check((await client.query('select 1 as one')).rows[0].one)
        await client.end()
      }
    }
  },
  postgres: {
    server: 'postgresql',
    load () {
      const postgres = load('postgres')
      return async (target) => {
        const sql = postgres({
          ...login(target), ssl: tlsOptions(target), max: 1, fetch_types: false
        })
        check((await sql`select 1 as one`)[0].one)
        await sql.end()
      }
    }
  },
  mysql2: {
    server: 'mariadb',
    load () {
      const { createConnection } = load('mysql2/promise')
      return async (target) => {
        const connection = await createConnection({
          ...login(target), ssl: tlsOptions(target)
        })
        check((await connection.query('select 1 as one'))[0][0].one)
        await connection.end()
      }
    }
  },
  mariadb: {
    server: 'mariadb',
    load () {
      const { createConnection } = load('mariadb')
      return async (target) => {
        const connection = await createConnection({
          ...login(target), ssl: tlsOptions(target)
        })
        check((await connection.query('select 1 as one'))[0].one)
        await connection.end()
      }
    }
  }
}

module.exports = { drivers }
