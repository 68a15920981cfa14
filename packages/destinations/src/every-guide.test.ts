import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { typesUnderTest } from './types-under-test.ts'

/** What holds for the guide of each destination type. */
const docs = join(import.meta.dirname, '../../../docs')

const shown = typesUnderTest.map(({ folder, definition, cases }) => ({
  folder,
  definition,
  documented: cases.filter((each) => each.documented),
}))

describe.each(shown)('guide of $folder', ({ folder, definition, documented }) => {
  const guide = () => readFileSync(join(docs, 'destinations', `${folder}.md`), 'utf8')
  const examples = () => examplesIn(guide())

  test('its examples are the documented cases', () => {
    expect(documented).not.toHaveLength(0)
    expect([...examples().keys()]).toEqual(documented.map(({ name }) => name))
  })

  test('the overview of the documentation links it, and the contract names its type', () => {
    const { displayName, name } = definition
    expect(readFileSync(join(docs, 'README.md'), 'utf8').toLowerCase()).toContain(
      `[${displayName.toLowerCase()}](destinations/${folder}.md)`,
    )
    expect(readFileSync(join(docs, 'contracts/destinations.md'), 'utf8')).toMatch(new RegExp(`\\b${name}\\b`))
  })

  test('it tells of every variable', () => {
    const [beforeExamples] = guide().split(/^## Examples$/m)
    for (const variable of [...definition.defaultConfig, ...definition.config.extraConfig]) {
      expect(beforeExamples).toContain(`\`${variable}\``)
    }
  })

  test('it says what is mapped, and in a table what is not and why', () => {
    expect(sectionOf(guide(), 'What is mapped')).not.toBe('')
    expect(sectionOf(guide(), 'What is not mapped')).toMatch(/^\|.*\|.*\|\n\|---\|---\|\n\| .+ \| .+ \|$/m)
  })

  // The types of this category follow no vendor.
  test.skipIf(definition.category === 'webhooks')('it says when the documentation of the vendor was read', () => {
    expect(guide()).toMatch(/[Rr]ead on 20\d\d-\d\d-\d\d/)
  })

  test.each(documented)('shows exactly: $name', ({ name, config, event, batch, expected }) => {
    const text = examples().get(name) ?? ''
    const blocks = [...text.matchAll(/```json\n(.*?)```/gs)].map((match) => JSON.parse(match[1]!) as unknown)
    if ('error' in expected) {
      expect(blocks).toEqual([config, event])
      expect(text).toContain(`\`${expected.error}\``)
    } else {
      const batched = batch === undefined ? [] : [...batch.events, batch.expected]
      expect(blocks).toEqual([config, event, ...expected.requests, ...batched])
    }
  })
})

function sectionOf(guide: string, heading: string): string {
  const [, text = ''] = guide.split(`\n## ${heading}\n`)
  return text.split(/^## /m)[0]!.trim()
}

/** The parts of the section "Examples" by their headings. */
function examplesIn(guide: string): Map<string, string> {
  const parts = sectionOf(guide, 'Examples').split(/^### /m).slice(1)
  return new Map(parts.map((part) => [part.slice(0, part.indexOf('\n')), part]))
}
