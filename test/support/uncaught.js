'use strict'

/**
 * Runs `body` while uncaught exceptions come here instead of ending the
 * process or failing the test; resolves with them.
 */
async function uncaughtDuring (body) {
  const before = process.rawListeners('uncaughtException')
  const caught = []
  const onUncaught = (error) => caught.push(error)
  process.removeAllListeners('uncaughtException')
  process.on('uncaughtException', onUncaught)
  try {
    await body(caught)
  } finally {
    process.removeListener('uncaughtException', onUncaught)
    for (const listener of before) process.on('uncaughtException', listener)
  }
  return caught
}

module.exports = { uncaughtDuring }
