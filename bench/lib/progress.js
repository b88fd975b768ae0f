'use strict'

const cliProgress = require('cli-progress')

/**
 * A progress bar with an estimate of what is left; nothing where standard
 * error is no terminal.
 */
function createProgress (label, total) {
  if (!process.stderr.isTTY) return { step () {}, stop () {} }
  const bar = new cliProgress.SingleBar({
    stream: process.stderr,
    format: '{label} [{bar}] {value}/{total} {eta_formatted} left {what}',
    barCompleteChar: '=',
    barIncompleteChar: ' ',
    hideCursor: true,
    clearOnComplete: true,
    stopOnComplete: false
  })
  bar.start(total, 0, { label, what: '' })
  return {
    step: (what = '', by = 1) => bar.increment(by, { what }),
    stop: () => bar.stop()
  }
}

module.exports = { createProgress }
