import { existsSync, readFileSync } from 'node:fs'
import path from 'node:path'
import type { JsonObject, JsonValue } from '@millrace/protocol'
import { afterAll, describe, expect, test } from 'vitest'
import { ALLOWED } from './allow-list.ts'
import { typeNameOf } from './definitions/entries.ts'
import { isAsRecorded, type RecordedCase, requestsOf } from './testing/recorded-cases.ts'
import { testCatalog } from './testing/test-catalog.ts'

const CASES = path.join(import.meta.dirname, '../cases')

/** Its published code is a placeholder that makes no request under any configuration. */
const WITHOUT_CASE = ['twilio-messaging-omnichannel']

const SENT_TO_NOBODY = {
  fromObject: [{ from: 'AgentIdSender', agent_id: 'a-1' }],
  to: [{ address: '+442071838750', channel: 'phone' }],
  content: { content_type: 'MessageContentText', text: 'Your seats are reserved.' },
}

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

test('a type whose code makes no request says so above its form', async () => {
  for (const slug of WITHOUT_CASE) {
    expect((catalog.describe(typeNameOf(slug))!.uiConfig as JsonObject)['help']).toMatch(/^Sends nothing: /)
    const subscriptions = [{ action: 'sendMessage', trigger: 'type = "track"', mapping: SENT_TO_NOBODY }]
    const config = { username: 'AC1', password: 'secret-of-twilio', subscriptions }
    expect(await requestsOf(catalog, slug, 'order', config)).toBe(undefined)
  }
})

test('every setting of every form is in a recorded case, a default also with another value', () => {
  const missing = Object.keys(ALLOWED).flatMap((slug) => {
    if (WITHOUT_CASE.includes(slug)) return []
    const cases = JSON.parse(readFileSync(path.join(CASES, `${slug}.json`), 'utf8')) as RecordedCase[]
    const { properties } = catalog.describe(typeNameOf(slug))!.configSchema as {
      properties: Record<string, JsonObject>
    }
    return Object.entries(properties)
      .filter(([name]) => name !== 'subscriptions')
      .filter(([name, { default: usual }]) => {
        const given = cases.flatMap(({ config }) => (config[name] === undefined ? [] : [config[name]]))
        return !given.some((value) => value !== usual)
      })
      .map(([name]) => `${slug}: ${name}`)
  })
  expect(missing).toEqual([])
})

test('a setting that is no host key never reaches the host of a request', async () => {
  const reached = new Set<string>()
  for (const slug of Object.keys(ALLOWED)) {
    if (WITHOUT_CASE.includes(slug)) continue
    const texts = freeTexts(slug)
    for (const { event, config } of JSON.parse(
      readFileSync(path.join(CASES, `${slug}.json`), 'utf8'),
    ) as RecordedCase[]) {
      const marked = (names: string[]) => ({
        ...config,
        ...Object.fromEntries(names.map((name) => [name, markOf(name)])),
      })
      // Where the marks together are no configuration that makes requests, each is tried alone.
      const together = await requestsOf(catalog, slug, event, marked(texts))
      const apart = together === undefined ? texts.map((name) => requestsOf(catalog, slug, event, marked([name]))) : []
      for (const requests of [together, ...(await Promise.all(apart))]) {
        for (const { endpoint } of (requests ?? []) as { endpoint: string }[]) {
          const authority = /^https:\/\/([^/?#]*)/i.exec(endpoint)![1]!.toLowerCase()
          for (const name of texts) if (authority.includes(markOf(name))) reached.add(`${slug}: ${name}`)
        }
      }
    }
  }
  expect([...reached].map((each) => `${each} decides the host: add it to HOST_FIELDS`)).toEqual([])
})

test('entries that need no mapping make a request from their default mappings', () => {
  const ready = Object.keys(ALLOWED).filter((slug) => ALLOWED[slug]!.needsMapping !== true)
  expect(ready).toHaveLength(65)
  for (const slug of ready) expect(existsSync(path.join(CASES, `${slug}.json`)), slug).toBe(true)
})

/** Settings of any text that are no host keys. */
function freeTexts(slug: string): string[] {
  const { config, configSchema } = catalog.describe(typeNameOf(slug))!
  return Object.entries(configSchema['properties'] as Record<string, JsonObject>)
    .filter(
      ([name, { type, enum: choices }]) =>
        type === 'string' && choices === undefined && !config.hostKeys.includes(name),
    )
    .map(([name]) => name)
}

/** A text that may be a label of a host name. */
function markOf(setting: string): string {
  return `mark-of-${setting.toLowerCase().replaceAll(/[^a-z0-9]/g, '-')}`
}
