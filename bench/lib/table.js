'use strict'

/** Rows of strings as aligned columns; the first one to the left. */
function formatTable (rows) {
  const widths = rows[0].map((_, i) =>
    Math.max(...rows.map((row) => [...row[i]].length)))
  return rows.map((row) => row.map((cell, i) => {
    const pad = ' '.repeat(widths[i] - [...cell].length)
    return i === 0 ? cell + pad : pad + cell
  }).join('  ').trimEnd()).join('\n')
}

/** A number with as many digits as mean something. */
function formatNumber (value) {
  if (value === undefined || value === null || Number.isNaN(value)) return '-'
  const digits = Math.abs(value) >= 100 ? 0 : Math.abs(value) >= 10 ? 1 : 2
  return value.toLocaleString('en-US', {
    minimumFractionDigits: digits, maximumFractionDigits: digits
  })
}

module.exports = { formatNumber, formatTable }
