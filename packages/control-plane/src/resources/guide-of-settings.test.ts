import { readFileSync } from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { DELIVERY, DESTINATION_WRITTEN } from './destination-schema.ts'
import { SOURCE_CONFIG, SOURCE_WEBHOOK } from './source-schema.ts'
import { membersOf, RESOURCE_READ_ONLY_MEMBERS } from './written-fields.ts'

const DOCS = path.join(import.meta.dirname, '../../../../docs')
/** Of every resource; `delivery` by its members. */
const NO_SETTINGS: readonly string[] = [...RESOURCE_READ_ONLY_MEMBERS, 'name', 'type', 'delivery']

test.each([
  ['sources-and-destinations.md', membersOf(SOURCE_CONFIG).map((name) => `config.${name}`)],
  ['sources-and-destinations.md', membersOf(DESTINATION_WRITTEN).filter((name) => !NO_SETTINGS.includes(name))],
  ['sources-and-destinations.md', membersOf(DELIVERY).map((name) => `delivery.${name}`)],
  ['webhook-sources.md', membersOf(SOURCE_WEBHOOK)],
])('docs/%s names every setting: %j', (page, names) => {
  const text = readFileSync(path.join(DOCS, page), 'utf8')
  expect(names.filter((name) => !text.includes(`\`${name}\``))).toEqual([])
})
