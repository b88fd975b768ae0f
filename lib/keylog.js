'use strict'

/**
 * --tls-keylog=FILE: the secrets of all connections, as in node.
 */

const { appendFile } = require('node:fs')

const FLAG = '--tls-keylog='

const file = findFile()
let warned = false
let warnedOfError = false

function findFile () {
  const words = process.execArgv.concat(
    (process.env.NODE_OPTIONS ?? '').split(/\s+/))
  const found = words.findLast((word) => word.startsWith(FLAG))
  if (found !== undefined) return found.slice(FLAG.length)
  const index = process.execArgv.lastIndexOf('--tls-keylog')
  return index === -1 ? undefined : process.execArgv[index + 1]
}

/** Appends what the socket's 'keylog' event tells to the file. */
function keylogToFile (socket) {
  if (file === undefined) return
  if (!warned) {
    warned = true
    process.emitWarning('Using --tls-keylog makes TLS connections insecure by ' +
      `writing secret key material to file ${file}`)
  }
  socket.on('keylog', (line) => {
    appendFile(file, line, { mode: 0o600 }, (error) => {
      if (!error || warnedOfError) return
      warnedOfError = true
      process.emitWarning('Failed to write TLS keylog (this warning will not ' +
        `be repeated): ${error}`)
    })
  })
}

module.exports = { keylogToFile }
