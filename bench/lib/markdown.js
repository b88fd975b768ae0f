'use strict'

/** A table of Markdown; the first column to the left, numbers to the right. */
function markdownTable ([head, ...rows]) {
  const line = (cells) => `| ${cells.join(' | ')} |`
  const rule = head.map((_, i) => i === 0 ? '---' : '---:')
  return [line(head), line(rule), ...rows.map(line)].join('\n')
}

module.exports = { markdownTable }
