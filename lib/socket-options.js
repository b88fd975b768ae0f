'use strict'

/**
 * net.Socket copies its options and adds to the copy. As long as it has seen at
 * most four shapes of options, the V8 of Node 20 makes new maps for that each
 * time, 1.6 KB for each socket of the process, over TLS or not; the young
 * generation grows by them, too. Once it has seen more it takes maps that it
 * has. So it is shown more, by sockets that have no handle and are never used.
 */

const net = require('node:net')

// It begins to look when a function has run a few times.
const TIMES = 4
const SHAPES = ['a', 'b', 'c', 'd', 'e', 'f']

const show = (name) => new net.Socket({ [name]: 0 })

if (Number(process.versions.node.split('.', 1)[0]) < 22) {
  for (let time = 0; time < TIMES; time++) SHAPES.forEach(show)
}
