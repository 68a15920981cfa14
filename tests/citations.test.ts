import { existsSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, test } from 'vitest'
import { deadCitations, definedTwice } from './citations.ts'
import { readTree, root } from './tree.ts'

const tree = readTree(['ts', 'tsx', 'mjs', 'js', 'css', 'java', 'h', 'm', 'md'])

test('every citation and every link leads somewhere', () => {
  expect(deadCitations(tree, (file) => existsSync(path.join(root, file)))).toEqual([])
})

test('every number of the contracts is defined once', () => {
  expect(definedTwice(tree)).toEqual([])
})

describe('in a small tree', () => {
  const small = {
    'docs/contracts/decisions.md': '| D7 | Guessing | slowed | safe |\n| D8 | Settings | variables | known |\n',
    'docs/contracts/mail.md':
      '## 1. Letters\n\nStamped. [D7]\n\n### 1.1 Stamps\n\n## 2. Checklist\n\n1. arrives. [D8]\n',
    'docs/contracts/dashboard.md': '## 4. Needed\n\n- N3 figures\n',
    'docs/decisions/0004-glue.md': '# Glue\n',
    'src/post.ts': 'export class Post {\n  send() {}\n}\n',
  }
  const deadIn = (text: string, file = 'src/citing.ts') => {
    const all = new Map(Object.entries({ ...small, [file]: text }))
    return deadCitations(all, (name) => all.has(name))
  }

  test.each([
    [
      'sections, lines, phrases and decisions',
      '/** @see contracts/mail.md §1 "stamped", §1.1, §2 item 1 [D7, D8]; decision 0004 */',
    ],
    ['a citation over two lines', '// contracts/mail.md\n// §1 [D7–D8]\n'],
    ['requirements', '// contracts/dashboard.md §4 N3'],
    ['names of the code', '/** @see Post.send */\n/** @see src/post.ts */'],
    ['what is no comment', 'const mask = contents[D9] ?? "contracts/none.md §9"'],
    [
      'standards, manuals and other sites',
      '/** RFC 9110 §7.6, RFC 9112 §6; @see resolv.conf(5) and @see https://example.org/list */',
    ],
    ['letters that are no decisions', '// S3, R2, P6, [a, b] and index[0]'],
  ])('%s are found', (_, text) => {
    expect(deadIn(text)).toEqual([])
  })

  test.each([
    ['// one\n// contracts/parcels.md', 'src/citing.ts:2: there is no contracts/parcels.md'],
    ['/* contracts/mail.md §3 */', 'src/citing.ts:1: docs/contracts/mail.md has no §3'],
    ['/* contracts/mail.md §1.2 */', 'src/citing.ts:1: docs/contracts/mail.md has no §1.2'],
    ['/* contracts/mail.md §2 item 4 */', 'src/citing.ts:1: docs/contracts/mail.md §2 has no line 4'],
    ['/* contracts/mail.md §1 "sealed" */', 'src/citing.ts:1: docs/contracts/mail.md §1 does not say "sealed"'],
    ['/* contracts/dashboard.md §4 N9 */', 'src/citing.ts:1: docs/contracts/dashboard.md §4 has no N9'],
    ['\n// as in §1', 'src/citing.ts:2: §1 names no contract: write contracts/<name>.md §1'],
    ['// [D9]', 'src/citing.ts:1: D9 is defined in no contract'],
    ['// [U1]', 'src/citing.ts:1: U1 is defined in no contract'],
    ['// by D7', 'src/citing.ts:1: write [D7]: a decision stands in square brackets'],
    ['// decision 0005', 'src/citing.ts:1: there is no decision 0005'],
    ['/** @see Post.stamp */', 'src/citing.ts:1: @see Post.stamp: there is nothing of that name'],
    ['/** @see src/letter.ts */', 'src/citing.ts:1: @see src/letter.ts: there is nothing of that name'],
  ])('%j is named', (text, offence) => {
    expect(deadIn(text)).toEqual([offence])
  })

  test.each([
    ['[gone](contracts/parcels.md)', 'docs/guide.md:1: links to contracts/parcels.md, which is not there'],
    ['[mail §3](contracts/mail.md)', 'docs/guide.md:1: docs/contracts/mail.md has no §3'],
    ['see\n[gone](../src/letter.ts)', 'docs/guide.md:2: links to ../src/letter.ts, which is not there'],
    ['[gone](decisions/0004-glue.md#paste)', 'docs/guide.md:1: docs/decisions/0004-glue.md has no heading #paste'],
  ])('in a document %j is named', (text, offence) => {
    expect(deadIn(text, 'docs/guide.md')).toContain(offence)
  })

  test.each([
    [
      'decisions.md',
      '| D7 | Again | so | so |\n',
      'D7 is defined twice: docs/contracts/decisions.md:1, docs/contracts/decisions.md:3',
    ],
    [
      'mail.md',
      '1. again. [D7]\n',
      'docs/contracts/mail.md §2 item 1 is defined twice: docs/contracts/mail.md:9, docs/contracts/mail.md:10',
    ],
    [
      'mail.md',
      '## 1. Again\n',
      'docs/contracts/mail.md §1 is defined twice: docs/contracts/mail.md:1, docs/contracts/mail.md:10',
    ],
  ])('a second definition in %s is named', (file, text, offence) => {
    const name = `docs/contracts/${file}` as keyof typeof small
    expect(definedTwice(new Map(Object.entries({ ...small, [name]: small[name] + text })))).toEqual([offence])
  })
})
