'use strict'

const { describeDriver } = require('../../support/driver-tests')
const { useServer } = require('../../support/server-process')

describe('vsftpd, with further drivers', () => {
  const server = useServer('vsftpd')

  describeDriver('ftp', server, {
    answer: { size: 15, files: ['answer'] },
    opened: [5, 3, 3],
    resumed: [4, 3, 3]
  })
})
