'use strict'

const fs = require('node:fs')

/** The descriptors of this process that are sockets, as { fd: inode name }. */
function openSockets () {
  const found = {}
  for (const fd of fs.readdirSync('/proc/self/fd')) {
    try {
      const target = fs.readlinkSync(`/proc/self/fd/${fd}`)
      if (target.startsWith('socket:')) found[fd] = target
    } catch {
      // The descriptor of the directory itself is gone by now.
    }
  }
  return found
}

/** How many descriptors of this process are sockets. */
function openSocketCount () {
  return Object.keys(openSockets()).length
}

module.exports = { openSockets, openSocketCount }
