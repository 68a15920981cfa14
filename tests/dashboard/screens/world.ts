import type { DevEnv } from '@millrace/dev-env'

/** What there is to be seen in a product, so that paths can name it. */
export interface World {
  readonly sourceId: string | undefined
  readonly destinationId: string | undefined
}

const EVENTS = [
  { type: 'track', event: 'Seat Reserved', userId: 'u-4711', properties: { hall: 'B', row: 4, seats: 2 } },
  { type: 'page', name: 'Seats', userId: 'u-4711', properties: { path: '/seats' } },
  { type: 'identify', userId: 'u-4711', traits: { name: 'Ada', city: 'London' } },
  { type: 'track', event: 'Ticket Paid', anonymousId: 'a-17', properties: { price: 14.5, currency: 'EUR' } },
]

/** A small cinema: sources that send, a webhook that takes and one that refuses, one source switched off. */
export async function cinema(env: DevEnv): Promise<World> {
  env.sink.answer = ({ path }) => ({ status: path === '/refused' ? 400 : 200 })
  const source = await env.source({ name: 'Cinema app', type: 'Cordova' })
  const { destinationId } = await env.webhook({ source, name: 'Booking hook' })
  await env.api('PATCH', `/v2/destinations/${destinationId}`, { transformationIds: [await addCents(env)] })
  const refused = await env.webhook({
    source,
    name: 'Loyalty programme of all cinemas in the country',
    config: { webhookUrl: `${env.sink.url}/refused` },
  })
  await env.source({ name: 'Website', type: 'Javascript' })
  await env.source({ name: 'Box office', type: 'Node' })
  await env.source({ name: 'Old kiosk', type: 'HTTP', enabled: false })
  for (let round = 0; round < 5; round++) {
    const batch = EVENTS.map((event, i) => ({ ...event, messageId: `m-${round}-${i}` }))
    await env.send('/v1/batch', { batch }, source.writeKey)
  }
  await env.send('/v1/track', { userId: 'u-1', event: 'Lost' }, 'aaaaaaaaaaaaaaaaaaaaaaaaaaa')
  await env.journey('m-4-3', 'dead_lettered', refused.destinationId)
  return { sourceId: source.id, destinationId }
}

/** User code of two versions, one of them a draft, with a library and a stored test. */
async function addCents(env: DevEnv): Promise<string> {
  const library = 'export const toCents = (price) => Math.round(price * 100)\n'
  await env.api('POST', '/v2/libraries?publish=true', { name: 'Price Rules', code: library })
  const code = `import { toCents } from "priceRules"

export function transformEvent(event) {
  if (event.type !== "track" || event.properties.price === undefined) return event
  log("price", event.properties.price)
  event.properties.priceCents = toCents(event.properties.price)
  return event
}
`
  const written = { name: 'Add cents', description: 'price in cents for the booking hook', code }
  const { json } = await env.api('POST', '/v2/transformations?publish=true', written)
  const { id } = json.transformation
  await env.api('PUT', `/v2/transformations/${id}/tests`, {
    tests: [
      {
        id: 't1',
        name: 'cents are added',
        input: [{ type: 'track', messageId: 'm-1', properties: { price: 18.5 } }],
        expectedOutput: [{ type: 'track', messageId: 'm-1', properties: { price: 18.5, priceCents: 1850 } }],
      },
    ],
  })
  await env.api('PUT', `/v2/transformations/${id}`, { ...written, captureLogs: true, code: `// Draft.\n${code}` })
  return id
}
