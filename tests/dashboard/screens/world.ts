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
