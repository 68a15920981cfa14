import { type DevEnv, plant, seedAnswer } from '@millrace/dev-env'

/** What there is to be seen in a product, so that paths can name it; an empty one has nothing of it. */
export interface World {
  readonly sourceId?: string
  readonly destinationId?: string
  /** Its events became dead letters. */
  readonly refusingId?: string
  readonly replayId?: string
  /** It has rules. */
  readonly connectionId?: string
}

/** The seed of a product in trouble, with a shape that changed, code in the making and a replay. */
export async function troubled(env: DevEnv): Promise<World> {
  env.sink.answer = seedAnswer
  await plant(env, 'trouble')
  const { sources } = await read(env, '/v2/sources')
  const { destinations } = await read(env, '/v2/destinations')
  const source = byKey(sources, 'cinema-app')
  const [destinationId, refusingId] = [byKey(destinations, 'booking-hook').id, byKey(destinations, 'refusing-hook').id]

  const properties = { hall: 'B', seat: '12a', row: { number: 4, isBack: false } }
  const changed = { type: 'track', event: 'Seat Reserved', messageId: 'm-1', userId: 'u-4711', properties }
  await env.send('/v1/batch', { batch: [changed] }, source.writeKey)
  await env.journey('m-1', 'delivered', destinationId)
  await draftCode(env)
  const [oldest] = (await read(env, '/v2/events/app-0')).events
  const range = { from: oldest.acceptedAt, to: new Date().toISOString() }
  const asked = { sourceIds: [source.id], destinationIds: [destinationId], ...range, rateEventsPerSecond: 50 }
  const { replay } = (await env.api('POST', '/v2/replays', asked)).json
  const connectionId = await filtered(env, source.id, destinationId)
  return { sourceId: source.id, destinationId, refusingId, replayId: replay.id, connectionId }
}

/** Rules for a connection, and consent for its destination. @returns the id of the connection. */
async function filtered(env: DevEnv, sourceId: string, destinationId: string): Promise<string> {
  const { connections } = await read(env, '/v2/connections')
  const isMeant = (each: Ends) => each.sourceId === sourceId && each.destinationId === destinationId
  const { id } = (connections as (Ends & { id: string })[]).find(isMeant)!
  const staging = { path: 'context.app.name', operator: 'in', value: ['Staging', 'Test'] }
  const small = { path: 'properties.price', operator: 'less', value: 1 }
  const list = [
    { action: 'allow', types: ['identify', 'group'] },
    { action: 'deny', conditions: [staging] },
    {
      action: 'deny',
      types: ['track'],
      events: { match: 'pattern', names: ['Debug *', '* Test'] },
      conditions: [small],
    },
  ]
  await env.api('PATCH', `/v2/connections/${id}`, { rules: { otherwise: 'allow', list } })
  const consent = { categories: ['Advertising', 'Analytics'], require: 'all' }
  await env.api('PATCH', `/v2/destinations/${destinationId}`, { consent })
  return id
}

interface Ends {
  readonly sourceId: string
  readonly destinationId: string
}

/** A draft beside what is published, with a library and a stored test. */
async function draftCode(env: DevEnv): Promise<void> {
  const library = 'export const toCents = (price) => Math.round(price * 100)\n'
  await env.api('POST', '/v2/libraries?publish=true', { name: 'Price Rules', code: library })
  const { transformations } = await read(env, '/v2/transformations')
  const path = `/v2/transformations/${transformations[0].id}`
  const code = `import { toCents } from "priceRules"

export function transformEvent(event) {
  if (event.type !== "track" || event.properties.price === undefined) return event
  log("price", event.properties.price)
  event.properties.priceCents = toCents(event.properties.price)
  return event
}
`
  const input = [{ type: 'track', messageId: 'm-1', properties: { price: 18.5 } }]
  const expectedOutput = [{ type: 'track', messageId: 'm-1', properties: { price: 18.5, priceCents: 1850 } }]
  await env.api('PUT', `${path}/tests`, { tests: [{ id: 't1', name: 'cents are added', input, expectedOutput }] })
  await env.api('PUT', path, { name: 'Add cents', description: 'Prices in cents', code, captureLogs: true })
}

// biome-ignore lint/suspicious/noExplicitAny: the JSON of a list
async function read(env: DevEnv, path: string): Promise<any> {
  return (await env.api('GET', path)).json
}

interface Listed {
  readonly key: string
  readonly id: string
  /** Of a source. */
  readonly writeKey: string
}

function byKey(listed: readonly Listed[], key: string): Listed {
  return listed.find((each) => each.key === key)!
}
