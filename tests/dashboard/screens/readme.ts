import { mkdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { cinemaEvents, type DevEnv, type Received, type SinkAnswer, type SourceMade } from '@millrace/dev-env'
import type { Clock } from '@millrace/std'
import { Dashboard } from '../browser.ts'
import { hurryingClock } from './hurrying-clock.ts'

const HOUR_MS = 3_600_000
/** Of the clock, until it has caught up. */
const SPEED = 30
const HURRY_MS = HOUR_MS / (SPEED - 1)
/** Rates, which are those of a minute, are of real time then. */
const AFTERWARDS_MS = 75_000
const SETTLE_MS = 2_000
const ROUND_MS = 250
/** Before now this destination stopped answering. */
const OUTAGE_MS = 6 * 60_000
const SIZE = { width: 1280, height: 720 }
const FOLDER = path.join(import.meta.dirname, '../../../docs/pictures')

/** Home of a cinema with an hour behind it, in both themes: `docs/pictures/home-<theme>.png`. */
export async function makeReadmePictures(say: (line: string) => void): Promise<void> {
  const clock = hurryingClock(HOUR_MS, SPEED)
  // By its clock a call takes very long while it hurries.
  await using dashboard = await Dashboard.open({ MILLRACE_HTTP_TIMEOUT_MS: '600000' }, { clock })
  const { env } = dashboard
  const { sources, destinationIds } = await workspace(env)
  const outageAt = Date.now() + HURRY_MS - OUTAGE_MS
  env.sink.answer = (request) => answer(request, clock.now() > outageAt)

  const ended = new AbortController()
  const traffic = visitors(env, clock, sources, ended.signal)
  await setTimeout(HURRY_MS)
  // Sandboxes take their real time to start.
  await writeCode(env, destinationIds)
  await setTimeout(AFTERWARDS_MS)
  mkdirSync(FOLDER, { recursive: true })
  for (const theme of ['light', 'dark'] as const) {
    const { page } = await dashboard.visit('/', { ...SIZE, theme })
    await page.getByRole('heading', { name: 'Needs attention' }).waitFor()
    await page.waitForTimeout(SETTLE_MS)
    const file = path.join(FOLDER, `home-${theme}.png`)
    writeFileSync(file, await page.screenshot())
    say(file)
    await page.context().close()
  }
  ended.abort()
  await traffic
}

interface BusySource extends SourceMade {
  readonly name: string
  readonly eventsPerSecond: number
}

/** Made through the routes, as a person would. @returns what sends, and the destinations by the ends of their paths. */
async function workspace(env: DevEnv) {
  const app = await env.source({ name: 'Cinema app', type: 'Cordova' })
  const website = await env.source({ name: 'Website', type: 'Javascript' })
  const office = await env.source({ name: 'Box office', type: 'Node' })
  const kiosk = await env.source({ name: 'Old kiosk', type: 'HTTP', enabled: false })
  const lanes: readonly [string, string, readonly SourceMade[]][] = [
    ['Booking system', 'booking', [app, website, office]],
    ['Warehouse', 'warehouse', [app, website, office, kiosk]],
    ['Loyalty programme', 'loyalty', [app]],
    ['Newsletter', 'newsletter', [website]],
    ['Hall displays', 'displays', [office]],
  ]
  const destinationIds = new Map<string, string>()
  for (const [name, end, [first, ...others]] of lanes) {
    const config = { webhookUrl: `${env.sink.url}/${end}` }
    const { destinationId } = await env.webhook({ source: first!, name, config })
    destinationIds.set(end, destinationId)
    for (const { id } of others) await env.api('POST', '/v2/connections', { sourceId: id, destinationId })
  }
  const sources: readonly BusySource[] = [
    { ...app, name: 'app', eventsPerSecond: 0.9 },
    { ...website, name: 'web', eventsPerSecond: 0.5 },
    { ...office, name: 'office', eventsPerSecond: 0.2 },
  ]
  return { sources, destinationIds }
}

async function writeCode(env: DevEnv, destinationIds: ReadonlyMap<string, string>): Promise<void> {
  const publish = async (name: string, code: string): Promise<string> =>
    (await env.api('POST', '/v2/transformations?publish=true', { name, code })).json.transformation.id
  const cents = await publish('Add cents', CENTS)
  const names = await publish('Short names', NAMES)
  const chains = { booking: [cents], warehouse: [names, cents], newsletter: [names] }
  for (const [end, transformationIds] of Object.entries(chains)) {
    await env.api('PATCH', `/v2/destinations/${destinationIds.get(end)}`, { transformationIds })
  }
}

const CENTS = `export function transformEvent(event) {
  if (event.properties?.price !== undefined) event.properties.priceCents = Math.round(event.properties.price * 100)
  return event
}
`
const NAMES = `export function transformEvent(event) {
  if (event.event !== undefined) event.event = event.event.toLowerCase()
  return event
}
`

/** The loyalty programme knows not every member; the newsletter stopped answering. */
function answer({ path: at, json }: Received, isOutage: boolean): SinkAnswer {
  if (at === '/newsletter' && isOutage) return { status: 503, body: 'maintenance' }
  const isUnknown = at === '/loyalty' && /^app-\d*[02468]0-3$/.test(json?.messageId ?? '')
  return isUnknown ? { status: 400, body: 'no such member' } : {}
}

/** Sends as many events as have come by the clock, more and fewer in waves. */
async function visitors(env: DevEnv, clock: Clock, sources: readonly BusySource[], ended: AbortSignal): Promise<void> {
  const startedAt = clock.now()
  const due = new Map(sources.map(({ id }) => [id, 0]))
  for (let round = 0, last = startedAt; !ended.aborted; round++) {
    const now = clock.now()
    for (const { id, name, writeKey, eventsPerSecond } of sources) {
      const minutes = (now - startedAt) / 60_000
      const wave = 1 + 0.35 * Math.sin(minutes / 7 + eventsPerSecond * 3) + 0.25 * Math.sin(minutes * 2.1)
      const owed = due.get(id)! + ((now - last) / 1000) * eventsPerSecond * wave
      due.set(id, owed % 1)
      const batch = cinemaEvents(`${name}-${round}`, Math.floor(owed))
      if (batch.length > 0) await env.send('/v1/batch', { batch }, writeKey)
    }
    last = now
    await setTimeout(ROUND_MS)
  }
}
