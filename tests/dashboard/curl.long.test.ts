import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { Dashboard } from './browser.ts'
import { answersOfCurl } from './curl.ts'

/* What a list offers as the same from the command line gives the rows that it shows (dashboard.md §12 "API", §15 line 29). */

let dashboard: Dashboard
let sourceId: string
let destinationId: string
beforeAll(async () => {
  dashboard = await Dashboard.open()
  const { env } = dashboard
  env.sink.answer = ({ path }) => ({ status: path === '/strict' ? 422 : 200 })
  const source = await env.source({ name: 'Cinema app' })
  sourceId = source.id
  await env.source({ name: 'Website' })
  destinationId = (await env.webhook({ source, name: 'Booking hook' })).destinationId
  await env.webhook({ source, name: 'Loyalty', config: { webhookUrl: `${env.sink.url}/strict` } })
  for (const event of ['Seat Reserved', 'Ticket Paid', 'Seat Reserved', 'Refund & “Return”']) {
    const messageId = `m-${event}-${Math.random()}`
    await env.send('/v1/track', { userId: 'u-1', event, messageId }, source.writeKey)
    await env.journey(messageId, 'delivered')
  }
  const code = 'export const transformEvent = (event) => event'
  for (const name of ['Add cents', 'Drop tests']) await made('/v2/transformations', { name, code })
  for (const name of ['Prices', 'Halls']) await made('/v2/libraries', { name, code: 'export const one = 1' })
  await made('/v2/users', { email: 'ada@cinema.example', role: 'editor' })
  await made('/v2/access-tokens', { name: 'For CI', role: 'viewer' })
  for (const key of ['crmKey', 'mapKey']) await env.api('PUT', `/v2/credentials/${key}`, { value: 'secret' })
  await made('/v2/dead-letters/replay', { filter: { state: 'open' }, dryRun: true })
  const models = async () => (await env.api('GET', '/schemas/event-models')).json.length
  await vi.waitFor(async () => expect(await models()).toBe(3), { timeout: 30_000 })
})
afterAll(() => dashboard[Symbol.asyncDispose]())

async function made(path: string, body: object): Promise<void> {
  const { status, text } = await dashboard.env.api('POST', path, body)
  if (status >= 300) throw new Error(`POST ${path} was answered ${status}: ${text}`)
}

// biome-ignore lint/suspicious/noExplicitAny: the JSON of any list
type Answer = any
interface List {
  readonly path: string
  readonly table: string
  /** What of each element its row shows, in the order of the answer. */
  readonly rows: (answer: Answer) => string[]
}

const LISTS: readonly List[] = [
  { path: '/sources', table: 'Sources', rows: ({ sources }) => idsOf(sources) },
  { path: '/sources?q=web', table: 'Sources', rows: ({ sources }) => idsOf(sources) },
  { path: '/sources/:source/connections', table: 'Connections', rows: () => ['Booking hook', 'Loyalty'] },
  { path: '/destinations', table: 'Destinations', rows: ({ destinations }) => idsOf(destinations) },
  {
    path: '/destinations/:destination/connections',
    table: 'Connections',
    rows: ({ connections }) => ofDestination(connections).map(() => 'Cinema app'),
  },
  { path: '/transformations', table: 'Transformations', rows: ({ transformations }) => namesOf(transformations) },
  { path: '/libraries', table: 'Libraries', rows: ({ libraries }) => namesOf(libraries) },
  { path: '/events', table: 'Events', rows: ({ events }) => messageIdsOf(events) },
  { path: '/events?name=Refund %26 “Return”', table: 'Events', rows: ({ events }) => messageIdsOf(events) },
  { path: '/events?outcome=dead_lettered&live=off', table: 'Events', rows: ({ events }) => messageIdsOf(events) },
  { path: '/dead-letters', table: 'Dead letters', rows: ({ deadLetters }) => messageIdsOf(deadLetters) },
  { path: '/replays', table: 'Replays', rows: ({ replays }) => replays.map(({ createdBy }: Answer) => createdBy) },
  { path: '/schema', table: 'Models', rows: (models) => models.map(({ EventIdentifier }: Answer) => EventIdentifier) },
  {
    path: '/settings/account',
    table: 'Your access tokens',
    // An admin is answered those of everybody.
    rows: ({ accessTokens: all }) => namesOf(all.filter(({ userId }: Answer) => userId === all[0].userId)),
  },
  { path: '/settings/users', table: 'Users', rows: ({ users }) => users.map(({ email }: Answer) => email) },
  { path: '/settings/credentials', table: 'Credentials', rows: ({ credentials }) => keysOf(credentials) },
  {
    path: '/settings/audit',
    table: 'Audit log',
    rows: ({ entries }) => entries.map(({ action, kind }: Answer) => `${action} ${kind}`),
  },
]

test.each(LISTS)('$path', async ({ path, table, rows }) => {
  await using visit = await dashboard.visit(path.replace(':source', sourceId).replace(':destination', destinationId))
  const { page } = visit
  const shown = page.getByRole('table', { name: table, exact: true }).locator('[data-row]')
  await shown.first().waitFor()
  await visit.settled()
  const answers = await answersOfCurl(page, dashboard.env.token)
  const expected = answers.flatMap(rows)
  const texts = await shown.evaluateAll((each: Answer[]) => each.map((row) => `${row.ariaLabel} ${row.textContent}`))
  expect(texts.map((text, at) => text.includes(expected[at]!))).toEqual(expected.map(() => true))
})

test('of a group of dead letters it asks for those of the group', async () => {
  await using visit = await dashboard.visit('/dead-letters')
  const { page } = visit
  await page.getByRole('row', { name: '4 at Loyalty: answered 422' }).click()
  await page.getByRole('heading', { name: 'answered 422' }).waitFor()
  const [{ deadLetters }] = (await answersOfCurl(page, dashboard.env.token)) as Answer
  expect(deadLetters.map(({ reason }: Answer) => reason)).toEqual(Array.from({ length: 4 }, () => 'answered 422'))
  await expect.poll(() => page.getByRole('table', { name: 'Dead letters' }).locator('[data-row]').count()).toBe(4)
})

const idsOf = (resources: Answer): string[] => resources.map(({ id }: Answer) => id)
const namesOf = (resources: Answer): string[] => resources.map(({ name }: Answer) => name)
const keysOf = (resources: Answer): string[] => resources.map(({ key }: Answer) => key)
const messageIdsOf = (events: Answer): string[] => events.map(({ messageId }: Answer) => messageId)
const ofDestination = (connections: Answer): Answer[] =>
  connections.filter((each: Answer) => each.destinationId === destinationId)
