'use strict'

const { connect } = require('amqplib')

/** Sends to a queue of its own, and waits for it. */
async function roundTrip (connection, bytes) {
  const channel = await connection.createChannel()
  const { queue } = await channel.assertQueue('', { exclusive: true })
  const message = new Promise((resolve) => {
    channel.consume(queue, resolve, { noAck: true })
  })
  channel.sendToQueue(queue, bytes)
  const { content } = await message
  await channel.close()
  return content
}

module.exports = {
  async open ({ host, port, user, password }, tls) {
    const connection = await connect(
      `amqps://${user}:${password}@${host}:${port}`, tls)
    connection.on('error', () => {})
    return connection
  },

  answer: async (connection) =>
    String(await roundTrip(connection, Buffer.from('six times seven'))),

  echo: async (connection, bytes) =>
    ({ back: await roundTrip(connection, bytes) }),

  close: (connection) => connection.close()
}
