#!/usr/bin/env node
'use strict'

const { main } = require('../lib/doctor')

process.exitCode = main(process.argv.slice(2),
  (text) => process.stdout.write(text),
  (text) => process.stderr.write(text))
