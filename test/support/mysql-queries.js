'use strict'

/**
 * What the drivers of MySQL and MariaDB have in common.
 * `query(text, values)` resolves with the rows.
 */

/** A known answer and what the server says of the encryption. */
async function answer (query) {
  const [{ answer }] = await query('select 6 * 7 as answer')
  const status = await query("show session status like 'Ssl_version'")
  return { answer: Number(answer), version: status[0].Value }
}

async function echo (query, bytes) {
  const [row] = await query('select ? as back, sha2(?, 256) as sum',
    [bytes, bytes])
  return { back: Buffer.from(row.back, 'latin1'), sum: row.sum }
}

module.exports = { answer, echo }
