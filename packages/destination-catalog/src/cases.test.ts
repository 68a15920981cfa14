import { existsSync, readFileSync } from 'node:fs'
import path from 'node:path'
import type { JsonValue } from '@millrace/protocol'
import { afterAll, describe, expect, test } from 'vitest'
import { ALLOWED } from './allow-list.ts'
import { isAsRecorded, type RecordedCase, requestsOf } from './testing/recorded-cases.ts'
import { testCatalog } from './testing/test-catalog.ts'

const CASES = path.join(import.meta.dirname, '../cases')

/** Nobody knows a configuration yet under which its code makes a request. */
const WITHOUT_CASE = ['twilio-messaging-omnichannel']

const catalog = testCatalog()
afterAll(() => catalog[Symbol.asyncDispose]())

describe.each(Object.keys(ALLOWED))('%s', (slug) => {
  const file = path.join(CASES, `${slug}.json`)

  test.skipIf(WITHOUT_CASE.includes(slug))(
    'makes the recorded requests, all of them https and without the publisher',
    async () => {
      expect(existsSync(file), 'run npm run catalog:record').toBe(true)
      for (const { title, event, config, requests } of JSON.parse(readFileSync(file, 'utf8')) as RecordedCase[]) {
        const made = (await requestsOf(catalog, slug, event, config)) as JsonValue
        if (!isAsRecorded(made, requests)) expect(made, title).toEqual(requests)
        for (const { endpoint } of made as { endpoint: string }[]) expect(endpoint).toMatch(/^https:\/\//)
      }
    },
  )
})

test('entries that need no mapping make a request from their default mappings', () => {
  const ready = Object.keys(ALLOWED).filter((slug) => ALLOWED[slug]!.needsMapping !== true)
  expect(ready).toHaveLength(65)
  for (const slug of ready) expect(existsSync(path.join(CASES, `${slug}.json`)), slug).toBe(true)
})
