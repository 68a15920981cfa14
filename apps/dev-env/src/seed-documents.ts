/** Documents of the configuration, as POST /v2/config/apply takes them. */

const ADD_CENTS = `export function transformEvent(event) {
  if (event.type !== 'track' || event.properties === undefined) return event
  event.properties.priceCents = Math.round(event.properties.price * 100)
  return event
}
`

export function cinemaDocument(sinkUrl: string): object {
  return {
    millrace: 1,
    sources: {
      'cinema-app': { name: 'Cinema app', type: 'Cordova' },
      'cinema-web': { name: 'Cinema website', type: 'Javascript' },
    },
    transformations: { 'add-cents': { name: 'Add cents', language: 'javascript', code: ADD_CENTS } },
    destinations: {
      'booking-hook': { ...webhook('Booking hook', `${sinkUrl}/booking`), transformations: ['add-cents'] },
      'loyalty-hook': webhook('Loyalty hook', `${sinkUrl}/loyalty`),
      'warehouse-hook': webhook('Warehouse hook', `${sinkUrl}/warehouse`),
    },
    connections: [
      { source: 'cinema-app', destination: 'booking-hook' },
      { source: 'cinema-app', destination: 'loyalty-hook' },
      { source: 'cinema-app', destination: 'warehouse-hook' },
      { source: 'cinema-web', destination: 'booking-hook' },
      { source: 'cinema-web', destination: 'warehouse-hook' },
    ],
  }
}

/** Each destination has a trouble of its own; how the sink answers stands in `seedAnswer`. */
export function troubleDocument(sinkUrl: string): object {
  const destinations = {
    'resting-hook': webhook('Resting hook', `${sinkUrl}/down`),
    'locked-hook': webhook('Locked hook', `${sinkUrl}/locked`),
    'refusing-hook': webhook('Refusing hook', `${sinkUrl}/refusing`),
    'silent-hook': webhook('Silent hook', `${sinkUrl}/silent`),
    'disabled-hook': { ...webhook('Disabled hook', `${sinkUrl}/disabled`), enabled: false },
  }
  return {
    millrace: 1,
    sources: {
      kiosk: { name: 'Kiosk', type: 'Node' },
      'old-kiosk': { name: 'Old kiosk', type: 'Node', enabled: false },
    },
    destinations,
    connections: Object.keys(destinations).map((destination) => ({ source: 'kiosk', destination })),
  }
}

/** Every source has one destination, and the first has the first `refusing` of them. */
export function largeDocument(sinkUrl: string, sources: number, destinations: number, refusing: number): object {
  const numbers = (count: number) => Array.from({ length: count }, (_, i) => i + 1)
  const pairs = new Set([
    ...numbers(Math.min(refusing, destinations)).map((n) => `1 ${n}`),
    ...numbers(sources).map((n) => `${n} ${((n - 1) % destinations) + 1}`),
  ])
  return {
    millrace: 1,
    sources: Object.fromEntries(numbers(sources).map((n) => [`source-${n}`, { name: `Source ${n}`, type: 'HTTP' }])),
    destinations: Object.fromEntries(
      numbers(destinations).map((n) => [`hook-${n}`, webhook(`Hook ${n}`, `${sinkUrl}/hook-${n}`)]),
    ),
    connections: [...pairs].map((pair) => {
      const [source, destination] = pair.split(' ')
      return { source: `source-${source}`, destination: `hook-${destination}` }
    }),
  }
}

/** Visitors who look at programmes and take seats; the same for the same arguments. */
export function cinemaEvents(of: string, count: number): Record<string, unknown>[] {
  return Array.from({ length: count }, (_, n) => {
    const ids = { messageId: `${of}-${n}`, userId: `${of}-visitor-${n % 40}`, anonymousId: `${of}-device-${n % 40}` }
    const price = 9 + (n % 5) * 1.5
    switch (n % 4) {
      case 0:
        return { ...ids, type: 'page', name: 'Programme', properties: { path: '/programme', hall: 'ABC'[n % 3] } }
      case 1:
        return { ...ids, type: 'identify', traits: { club: n % 2 === 0 ? 'gold' : 'silver' } }
      case 2:
        return {
          ...ids,
          type: 'track',
          event: 'Seat Reserved',
          properties: { hall: 'ABC'[n % 3], seat: n % 200, price },
        }
      default:
        return { ...ids, type: 'track', event: 'Ticket Paid', properties: { price, currency: 'EUR' } }
    }
  })
}

/** What the schema catalog keeps of one model at most. */
export const MAX_MODEL = { versions: 200, keys: 2_000 }
/** What an event has besides its properties: its id, times and context. */
const COMMON_KEYS = 6
/** The properties of a version are a window over all, which moves on with each. */
const WINDOW = 450
const STEP = 10

/** Names of the properties of a version of the largest model; versions count from 0. */
export function largestModelKeys(version: number): string[] {
  return Array.from({ length: WINDOW }, (_, at) => {
    const place = (version * STEP + at) % (MAX_MODEL.keys - COMMON_KEYS)
    return `key${String(place).padStart(4, '0')}`
  })
}

/** An event of each version of it. */
export function largestModelEvents(): Record<string, unknown>[] {
  return Array.from({ length: MAX_MODEL.versions }, (_, version) => ({
    type: 'track',
    event: 'Largest',
    userId: 'u-1',
    messageId: `largest-${version}`,
    properties: Object.fromEntries(largestModelKeys(version).map((key, at) => [key, at])),
  }))
}

function webhook(name: string, webhookUrl: string) {
  return { name, type: 'WEBHOOK', enabled: true, config: { webhookUrl } }
}
