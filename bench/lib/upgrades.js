'use strict'

const { measureEach } = require('./measure')
const { close, pingPong } = require('./sockets')

/** Connect, upgrade, one small round trip, close: `count` times in a row. */
async function upgrades (bench, count, more) {
  for (let i = 0; i < count; i++) {
    const socket = await bench.open(more?.(i))
    await pingPong(socket)
    await close(socket)
  }
}

/** Long enough for V8 to have compiled what runs once per connection. */
const warmUp = (bench, count) => upgrades(bench, 2 * count)

const metrics = {
  cpu: ['client CPU per upgrade', 'µs'],
  wall: ['time per upgrade', 'µs']
}

const round = (bench, count) =>
  measureEach(count, () => upgrades(bench, count))

module.exports = { metrics, round, upgrades, warmUp }
