'use strict'

/**
 * What docs/benchmarks.md says in words.
 */

const intro = `# Benchmarks

Written by \`npm run bench:report\` from the samples in
[bench/results](../bench/results); not edited by hand.

The server is a process of its own: TLS 1.3, an RSA-2048 certificate, on the
loopback, \`node:tls\` of the Node that started the benchmark. Each contender is a
process of its own too; their rounds are interleaved, and turned round each time.
CPU is user and system time of the client, by \`process.cpuUsage()\`. A number is
the median of the rounds, ± half the range between the quartiles; a ratio is the
median of the ratios of each round. All operations are checked: that the peer was
verified, that the session was resumed or was not, as intended, and that the data
are what was sent. Times on a machine with few cores that is not quiet are worth
little; the ratios hold.`

const reproduce = `## How to reproduce

\`\`\`sh
npm ci
npm run bench                  # everything, on this Node
npm run bench -- --list        # the cases
npm run bench -- --case storm --contender eager-fd --rounds 3
npm run bench -- --node 26     # clients on another Node, fetched from npm
npm run bench:rss              # memory over 10,000 upgrades
npm run bench:leak -- --save   # the curves above
npm run bench:sizes            # what one idle connection is made of
npm run bench:micro            # finding a context for some options
npm run bench:report           # this page
\`\`\`

Samples go to \`bench/results\`, one file per case and version of Node, with the
machine, Node, OpenSSL, the commit and the date. Bun takes part where
\`scripts/get-runtimes.sh bun\` has fetched it, the C program (\`bench/floor.c\`)
where there are a compiler and OpenSSL's headers.`

const limits = `## What was not measured

- Networks: everything is on the loopback. Round trips cost more elsewhere, which
  makes resumption and joined segments worth more, and CPU worth less.
- Other servers' certificates: chains with intermediates and other key types
  cost the client other amounts.
- TLS 1.2.
- Server-side CPU, which resumption saves too.
- Other systems than Linux on x86-64, and machines with many cores.
- Bun's event loop stalls are what its own \`monitorEventLoopDelay\` says. Bun does
  not resume sessions by itself: where others resume, it makes full handshakes.
- The C program runs on the system's OpenSSL, the others on the one in their
  binary. It blocks instead of waiting in an event loop.
- Contexts of \`node:tls\` in the leak benchmark are counted by a
  \`FinalizationRegistry\`, thus as late as the collector tells; nobody can tell its
  live \`SSL\` objects.`

module.exports = { intro, limits, reproduce }
