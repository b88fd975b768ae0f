'use strict'

const zero = { passed: 0, failed: 0, skipped: 0 }

/** The sum of many { passed, failed, skipped }. */
function sum (all) {
  return all.reduce((total, { passed, failed, skipped }) => ({
    passed: total.passed + passed,
    failed: total.failed + failed,
    skipped: total.skipped + skipped
  }), zero)
}

/** `N passed, N failed`, and how many were skipped if any were. */
function format ({ passed, failed, skipped }) {
  const more = skipped > 0 ? `, ${skipped} skipped` : ''
  return `${passed} passed, ${failed} failed${more}`
}

module.exports = { format, sum, zero }
