'use strict'

const { once } = require('node:events')
const mqtt = require('mqtt')

/** Sends to a topic that it subscribes to itself, and waits for it. */
async function roundTrip (client, bytes) {
  await client.subscribeAsync('test', { qos: 1 })
  const message = once(client, 'message')
  await client.publishAsync('test', bytes, { qos: 1 })
  const [, payload] = await message
  return payload
}

module.exports = {
  async open ({ host, port, user, password }, tls, job) {
    const options = {
      host,
      port,
      protocol: 'mqtts',
      username: user,
      password,
      reconnectPeriod: 0,
      ...tls
    }
    const client = job.way === 'hook'
      // The driver's own hook: a function that makes the stream.
      ? new mqtt.MqttClient(
        () => require(job.package).connect({ host, port, ...tls }), options)
      : mqtt.connect(options)
    try {
      await once(client, 'connect')
    } catch (error) {
      await client.endAsync(true)
      throw error
    }
    return client
  },

  answer: async (client) =>
    String(await roundTrip(client, Buffer.from('six times seven'))),

  echo: async (client, bytes) => ({ back: await roundTrip(client, bytes) }),

  close: (client) => client.endAsync()
}
