'use strict'

const net = require('node:net')

let lastName
let lastAnswer = false

/**
 * Whether a name is an IP address. Connections to one server ask it again and
 * again, and node answers with two regular expressions.
 *
 * @param {string} name
 * @returns {boolean}
 */
function isIpAddress (name) {
  if (name !== lastName) {
    lastAnswer = net.isIP(name) !== 0
    lastName = name
  }
  return lastAnswer
}

module.exports = { isIpAddress }
