import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { DevEnv } from '@millrace/dev-env'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { ApiTester, TRANSFORM } from './tester.ts'

/*
 * The Test API runs every type of the list of definitions: those by hand with the first example of their guides, those of the
 * catalog with their first recorded case.
 */

const ROOT = path.join(import.meta.dirname, '../../..')
const GUIDES = path.join(ROOT, 'docs/destinations')
const CATALOG = path.join(ROOT, 'packages/destination-catalog')
/** Its published code is a placeholder that makes no request. */
const WITHOUT_REQUEST = ['CATALOG_TWILIO_MESSAGING_OMNICHANNEL']

interface Shown {
  readonly method: string
  readonly endpoint: string
  readonly body: object
}

interface Example {
  readonly type: string
  readonly config: object
  readonly message: object
  /** Undefined where they change with every run. */
  readonly requests: readonly Shown[] | undefined
}

const EXAMPLES = [...readdirSync(GUIDES).flatMap(guideExample), ...(await catalogExamples())]

let env: DevEnv
let tester: ApiTester
let defined: string[]

beforeAll(async () => {
  env = await DevEnv.open()
  tester = new ApiTester(env)
  defined = (await env.api('GET', '/destination-definitions')).json.map(({ name }: { name: string }) => name)
}, 30_000)
afterAll(() => env?.[Symbol.asyncDispose]())

test('every type of the list has an example', () => {
  expect(EXAMPLES.map(({ type }) => type).toSorted()).toEqual(
    defined.filter((name) => !WITHOUT_REQUEST.includes(name)).toSorted(),
  )
})

test.each(EXAMPLES)('$type makes the requests of its example', async ({ type, config, message, requests }) => {
  const { status, json, text } = await env.api('POST', '/v2/destinations', { name: type, type, config })
  expect(status, text).toBe(200)
  // Services refuse old events.
  const now = new Date().toISOString()
  const isTimed = 'timestamp' in message
  const sent = isTimed ? { ...message, timestamp: now, originalTimestamp: now } : message
  const { dest_transformed_payload: made } = await tester.stages(
    json.destination.id,
    TRANSFORM,
    sent,
    {},
    '?force=true',
  )
  if (requests === undefined) return expect(made).not.toHaveLength(0)
  expect(made).toHaveLength(requests.length)
  for (const [i, { method, endpoint, body }] of requests.entries()) {
    expect(made[i].method).toBe(method)
    expect(isAsShown(made[i].endpoint, endpoint), `${made[i].endpoint} is ${endpoint}`).toBe(true)
    if (!isTimed) expect(isAsShown(made[i].body, body), JSON.stringify(made[i].body)).toBe(true)
  }
})

/** Whether a value is as it is shown, apart from secrets and from what changes with every run. */
function isAsShown(made: unknown, shown: unknown): boolean {
  if (shown === '<any>' || (typeof made === 'string' && made.includes('********'))) return true
  if (typeof made !== 'object' || made === null || typeof shown !== 'object' || shown === null) return made === shown
  const names = Object.keys(shown)
  return (
    Array.isArray(made) === Array.isArray(shown) &&
    Object.keys(made).length === names.length &&
    names.every((name) => isAsShown(made[name as never], shown[name as never]))
  )
}

/** The first example with a request; nothing for a page that describes no type. */
function guideExample(file: string): Example[] {
  const sections = readFileSync(path.join(GUIDES, file), 'utf8').split(/^### /m).slice(1)
  const section = sections.find((text) => /^Requests?( 1)?:$/m.test(text) && !text.includes('Further events'))
  if (section === undefined) return []
  const blocks = [...section.matchAll(/```json\n(.*?)```/gs)].map(([, json]) => JSON.parse(json!))
  const [config, message, ...requests] = blocks
  return [{ type: path.basename(file, '.md').toUpperCase().replaceAll('-', '_'), config, message, requests }]
}

async function catalogExamples(): Promise<Example[]> {
  const { CASE_EVENTS } = await import(path.join(CATALOG, 'src/testing/case-events.ts'))
  return readdirSync(path.join(CATALOG, 'cases')).map((file) => {
    const [{ event, config, requests }] = JSON.parse(readFileSync(path.join(CATALOG, 'cases', file), 'utf8'))
    const type = `CATALOG_${path.basename(file, '.json').toUpperCase().replaceAll('-', '_')}`
    return { type, config, message: CASE_EVENTS[event], requests: requests === '<any>' ? undefined : requests }
  })
}
