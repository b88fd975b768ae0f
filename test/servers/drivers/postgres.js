'use strict'

const postgres = require('postgres')

module.exports = {
  async open ({ host, port, user, password, database }, ssl) {
    const sql = postgres({
      host, port, user, password, database, ssl, max: 1
    })
    await sql`select 1`
    return sql
  },

  async answer (sql) {
    const [row] = await sql`
      select ssl, version, 6 * 7 as answer from pg_stat_ssl
      where pid = pg_backend_pid()`
    return row
  },

  async echo (sql, bytes) {
    const [row] = await sql`
      select ${bytes}::bytea as back,
        encode(sha256(${bytes}::bytea), 'hex') as sum`
    return row
  },

  close: (sql) => sql.end()
}
