'use strict'

const { Attribute, Change, Client } = require('ldapts')

const base = 'dc=example,dc=test'

module.exports = {
  async open ({ host, port, user, password }, tls) {
    const client = new Client({ url: `ldap://${host}:${port}` })
    try {
      await client.startTLS(tls)
      await client.bind(user, password)
    } catch (error) {
      await client.unbind()
      throw error
    }
    return client
  },

  async answer (client) {
    const { searchEntries } = await client.search(base, {
      scope: 'sub', filter: '(cn=user*)', attributes: ['cn', 'description']
    })
    return searchEntries.filter((e) => e.description.length === 400).length
  },

  async echo (client, bytes) {
    const dn = `cn=user1,${base}`
    const modification = new Attribute({ type: 'jpegPhoto', values: [bytes] })
    await client.modify(dn, new Change({ operation: 'replace', modification }))
    const { searchEntries } = await client.search(dn, {
      scope: 'base', attributes: ['jpegPhoto'], explicitBufferAttributes: ['jpegPhoto']
    })
    return { back: searchEntries[0].jpegPhoto }
  },

  close: (client) => client.unbind()
}
