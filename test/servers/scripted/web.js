'use strict'

// HTTPS and WebSocket ($PORT), and an HTTP proxy that knows CONNECT
// ($PROXY_PORT). Both give back what they get; GET tells whether the request
// came through the proxy.

const http = require('node:http')
const https = require('node:https')
const net = require('node:net')
const { WebSocketServer } = require('ws')
const { identity, listen } = require('./listen')

// Ports of the proxy's own connections to the server.
const tunnels = new Set()

const web = https.createServer(identity, (request, response) => {
  if (request.method === 'POST') {
    request.pipe(response)
    return
  }
  const proxied = tunnels.has(request.socket.remotePort)
  response.end(`six times seven${proxied ? ', through the proxy' : ''}`)
})

new WebSocketServer({ server: web, maxPayload: 8_000_000 })
  .on('connection', (client) => {
    client.on('message', (data, binary) => client.send(data, { binary }))
  })

const proxy = http.createServer((request, response) => {
  response.writeHead(405).end()
})
proxy.on('connect', (request, socket, head) => {
  const target = net.connect(web.address().port, '127.0.0.1', () => {
    tunnels.add(target.localPort)
    socket.write('HTTP/1.1 200 Connection established\r\n\r\n')
    target.write(head)
    target.pipe(socket).pipe(target)
  })
  target.on('error', () => socket.destroy())
  socket.on('error', () => target.destroy())
  socket.on('close', () => target.destroy())
})

listen({ PORT: web, PROXY_PORT: proxy })
