'use strict'

const { once } = require('node:events')
const { promisify } = require('node:util')
const { Attribute, Change, createClient } = require('ldapjs')

const base = 'dc=example,dc=test'

async function search (client, dn, options) {
  const result = await promisify(client.search).call(client, dn, options)
  const entries = []
  result.on('searchEntry', (entry) => entries.push(entry))
  await once(result, 'end')
  return entries
}

const valueOf = (entry, type) =>
  entry.attributes.find((attribute) => attribute.type === type).buffers[0]

async function close (client) {
  const closed = once(client, 'close')
  client.unbind()
  await closed
}

module.exports = {
  async open ({ host, port, user, password }, tls) {
    const client = createClient({ url: `ldap://${host}:${port}` })
    await once(client, 'connect')
    try {
      await promisify(client.starttls).call(client, { ...tls }, [])
      await promisify(client.bind).call(client, user, password)
    } catch (error) {
      await close(client)
      throw error
    }
    return client
  },

  async answer (client) {
    const entries = await search(client, base, {
      scope: 'sub', filter: '(cn=user*)', attributes: ['cn', 'description']
    })
    return entries.filter((e) => valueOf(e, 'description').length === 400).length
  },

  async echo (client, bytes) {
    const dn = `cn=user2,${base}`
    const modification = new Attribute({ type: 'jpegPhoto', values: [bytes] })
    await promisify(client.modify).call(client, dn,
      new Change({ operation: 'replace', modification }))
    const [entry] = await search(client, dn, {
      scope: 'base', attributes: ['jpegPhoto']
    })
    return { back: valueOf(entry, 'jpegPhoto') }
  },

  close
}
