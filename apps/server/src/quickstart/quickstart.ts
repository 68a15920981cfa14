import { type ControlPlane, MILLRACE, type Source } from '@millrace/control-plane'
import type { Delivery, DeliveryHost } from '@millrace/pipeline'
import type { printedCommands } from './printed-commands.ts'

const SAMPLES = [
  { type: 'identify', userId: 'u-4711', traits: { name: 'Ada', city: 'London' } },
  { type: 'page', name: 'Seats', userId: 'u-4711', properties: { path: '/seats' } },
  { type: 'track', event: 'Seat Reserved', userId: 'u-4711', properties: { hall: 'B', row: 4, seats: 2 } },
]
const ARRIVAL_TIMEOUT_MS = 10_000
/** Number of deliveries to the inbox that the start prints, one line each. */
const MAX_SHOWN = 100

interface Quickstart {
  readonly controlPlane: ControlPlane
  readonly delivery: Pick<DeliveryHost, 'delivered'>
  /** URL of this server, such as `http://127.0.0.1:8080`. */
  readonly baseUrl: string
  readonly inboxPath: string
  readonly commands: ReturnType<typeof printedCommands>
  /** Writes a line for the person at the terminal. */
  readonly say: (line: string) => void
}

/**
 * The first start: creates a source and a destination that posts to this server's inbox, sends three events over HTTP,
 * and prints each arrival.
 *
 * @see contracts/control-plane.md §3 [D733]
 */
export async function runQuickstart(quickstart: Quickstart): Promise<void> {
  const { controlPlane, delivery, baseUrl, inboxPath, commands, say } = quickstart
  const { resource: source } = await controlPlane.sources.create(MILLRACE, { name: 'Quickstart', type: 'HTTP' })
  const { resource: destination } = await controlPlane.destinations.create(MILLRACE, {
    name: 'Quickstart inbox',
    type: 'WEBHOOK',
    config: { webhookUrl: `${baseUrl}${inboxPath}` },
  })
  await controlPlane.connections.create(MILLRACE, { sourceId: source.id, destinationId: destination.id })
  let shown = 0
  const arrived = new Promise<boolean>((resolve) => {
    const timeout = setTimeout(() => resolve(false), ARRIVAL_TIMEOUT_MS)
    const stop = delivery.delivered.add((arrival) => {
      if (arrival.destinationId !== destination.id) return
      say(deliveryLine(arrival))
      if (++shown === SAMPLES.length) {
        clearTimeout(timeout)
        resolve(true)
      }
      if (shown === MAX_SHOWN) {
        say('  (later deliveries are not shown here)')
        stop()
      }
    })
  })
  say('Three sample events, as they arrive:')
  await send(baseUrl, source, SAMPLES)
  if (!(await arrived)) say(`  Not all of them arrived: check with: ${commands.local('doctor')}`)
  say('')
  for (const line of nextSteps(quickstart, source)) say(line)
}

function deliveryLine({ type, name, destinationName, status, durationMs }: Delivery): string {
  const what = `${type.padEnd(9)} ${name}`.padEnd(28)
  return `  ${what} → ${destinationName}  ${status}  ${Math.round(durationMs)} ms`
}

async function send(baseUrl: string, source: Source, batch: readonly object[]): Promise<void> {
  const answer = await fetch(`${baseUrl}/v1/batch`, {
    method: 'POST',
    headers: { Authorization: `Basic ${Buffer.from(`${source.writeKey}:`).toString('base64')}` },
    body: JSON.stringify({ batch }),
  })
  const text = await answer.text()
  if (!answer.ok) throw new Error(`the sample events were refused: ${answer.status} ${text}`)
}

function nextSteps({ baseUrl, commands }: Quickstart, source: Source): string[] {
  const event = { messageId: 'hello-1', userId: 'u-4711', event: 'Hello', properties: { from: 'me' } }
  return [
    'Send your own event:',
    '',
    `  curl -u ${source.writeKey}: ${baseUrl}/v1/track -d '${JSON.stringify(event)}'`,
    '',
    'Trace it:',
    '',
    `  ${commands.remote('trace', event.messageId)}`,
    '',
  ]
}
