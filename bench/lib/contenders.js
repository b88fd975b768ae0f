'use strict'

/**
 * What is compared. Each has
 *
 *   about     what it is, in a few words
 *   runtime   'node' | 'bun' | 'c'
 *   env       added to the environment of its processes
 *   resumes   whether it can resume sessions; `resume: true` is asked of these
 *   make(settings) -> upgrade(raw, more) -> TLS socket
 *             settings: { resume, singleUse, tls } with `tls` the options of
 *             tls.connect(); `more` are options of this one connection
 */

const tls = require('node:tls')

function nodeOwn ({ tls: options }) {
  return (socket, more) => tls.connect(Object.assign({ socket }, options, more))
}

function nodeShared ({ tls: options }) {
  const secureContext = tls.createSecureContext(options)
  return (socket, more) =>
    tls.connect(Object.assign({ socket, secureContext }, options, more))
}

function nodeSharedSessions ({ tls: options, resume }) {
  const secureContext = tls.createSecureContext(options)
  let session
  return (socket, more) => {
    const secure = tls.connect(Object.assign(
      { socket, secureContext, session }, options, more))
    if (resume) secure.once('session', (ticket) => { session = ticket })
    return secure
  }
}

/** This package; loaded here so that no other contender has it in memory. */
function eager (transport) {
  return ({ tls: options, resume, singleUse }) => {
    const { backend, connect } = require('../..')
    const wanted = process.env.EAGER_TLS_BACKEND ?? 'native'
    if (backend !== wanted) throw new Error(`the backend is '${backend}'`)
    const own = { transport, sessionReuse: resume }
    if (singleUse) own.singleUse = true
    return (socket, more) => connect(Object.assign({ socket }, options, own, more))
  }
}

function bare ({ tls: options, resume }) {
  const { BareSocket } = require('./bare-socket')
  return (socket) => new BareSocket(socket, options, resume)
}

const contenders = {
  'node-own': {
    about: 'node:tls as drivers use it: a context for each connection',
    runtime: 'node',
    resumes: false,
    make: nodeOwn
  },
  'node-shared': {
    about: 'node:tls, secureContext built once by hand',
    runtime: 'node',
    resumes: false,
    make: nodeShared
  },
  'node-shared-sessions': {
    about: 'node:tls, secureContext and session passed by hand',
    runtime: 'node',
    resumes: true,
    make: nodeSharedSessions
  },
  'eager-fd': {
    about: 'eager-tls, the core on the descriptor',
    runtime: 'node',
    env: { EAGER_TLS_BACKEND: 'native' },
    resumes: true,
    make: eager('fd')
  },
  'eager-stream': {
    about: 'eager-tls, ciphertext through the Duplex',
    runtime: 'node',
    env: { EAGER_TLS_BACKEND: 'native' },
    resumes: true,
    make: eager('stream')
  },
  'eager-node': {
    about: 'eager-tls, its fallback on node:tls',
    runtime: 'node',
    env: { EAGER_TLS_BACKEND: 'node' },
    resumes: true,
    make: eager('auto')
  },
  'eager-bare': {
    about: 'the core of eager-tls with next to nothing on top, no streams',
    runtime: 'node',
    env: { EAGER_TLS_BACKEND: 'native' },
    resumes: true,
    make: bare
  },
  bun: {
    about: 'Bun: node:tls on BoringSSL',
    runtime: 'bun',
    resumes: false,
    make: nodeOwn
  },
  plain: {
    about: 'node:net, no TLS',
    runtime: 'node',
    resumes: false,
    plain: true,
    make: () => null
  },
  'plain-loaded': {
    about: 'node:net, no TLS, in a process that has loaded eager-tls',
    runtime: 'node',
    resumes: false,
    plain: true,
    make: () => {
      require('../..')
      return null
    }
  },
  floor: {
    about: 'a C program on OpenSSL, blocking socket',
    runtime: 'c',
    resumes: true
  }
}

module.exports = { contenders }
