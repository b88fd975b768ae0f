'use strict'

const { Readable, Writable } = require('node:stream')
const { Client } = require('basic-ftp')

async function upload (client, name, bytes) {
  await client.uploadFrom(Readable.from([bytes]), name)
}

async function download (client, name) {
  const chunks = []
  await client.downloadTo(new Writable({
    write (chunk, encoding, callback) {
      chunks.push(chunk)
      callback()
    }
  }), name)
  return Buffer.concat(chunks)
}

module.exports = {
  async open ({ host, port }, secureOptions) {
    const client = new Client()
    await client.access({ host, port, secure: true, secureOptions })
    await client.cd('/pub')
    return client
  },

  async answer (client) {
    await upload(client, 'answer', Buffer.from('six times seven'))
    const size = await client.size('answer')
    const files = await client.list()
    await client.remove('answer')
    return { size, files: files.map(({ name }) => name) }
  },

  async echo (client, bytes) {
    await upload(client, 'big', bytes)
    const back = await download(client, 'big')
    await client.remove('big')
    return { back }
  },

  close: (client) => client.close(),

  /** Ten transfers over one control connection. */
  async transfers (server, secureOptions) {
    const client = await this.open(server, secureOptions)
    const back = []
    for (let i = 0; i < 5; i++) {
      await upload(client, `file${i}`, Buffer.from(`content ${i}`))
      back.push(String(await download(client, `file${i}`)))
      await client.remove(`file${i}`)
    }
    client.close()
    return back
  }
}
