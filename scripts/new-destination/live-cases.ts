import { randomUUID } from 'node:crypto'
import type { OutboundRequest } from '../../packages/delivery/src/index.ts'
import type { DestinationCase } from '../../packages/destinations/src/destination-case.ts'
import type { DestinationModule } from '../../packages/destinations/src/index.ts'
import { type Answered, type MadeRequests, Stages } from '../../packages/pipeline/src/index.ts'
import { isJsonObject, type JsonObject } from '../../packages/protocol/src/index.ts'
import type { LiveSender } from './live-sender.ts'

/** What became of a case: `skipped` cases send nothing. */
export interface LiveResult {
  readonly outcome: 'accepted' | 'refused' | 'skipped'
  /** On one line, without secrets. */
  readonly text: string
}

const MAX_SHOWN_CHARACTERS = 300

/**
 * Sends the requests of a documented case as live traffic does, one after the other, until one is refused. The given
 * configuration goes before that of the case; the event is of now, because services refuse old ones, and has an id of its own.
 */
export async function sendCase(
  module: DestinationModule,
  { config: ofCase, event, expected }: DestinationCase,
  given: JsonObject,
  sender: LiveSender,
): Promise<LiveResult> {
  if ('error' in expected) return { outcome: 'skipped', text: 'it makes no request' }
  const missing = secretVariables(module).filter((name) => name in ofCase && !(name in given))
  if (missing.length > 0) return { outcome: 'skipped', text: `it needs ${missing.join(' and ')}` }
  const stages = stagesFor(module, { ...ofCase, ...given })
  const made = await stages.destTransform(ofNow(event), 'live')
  if ('error' in made) {
    return { outcome: 'refused', text: stages.maskingOf([]).text(`no request: ${made.error}`) }
  }
  const { ready } = made
  if (ready.requests.length === 0) return { outcome: 'skipped', text: 'the configuration does not want the event' }
  const texts: string[] = []
  for (const request of ready.requests) {
    const answered = await sender.send(request)
    texts.push(told(request, answered, ready))
    if (!isAccepted(answered, ready)) return { outcome: 'refused', text: texts.join('; ') }
  }
  return { outcome: 'accepted', text: texts.join('; ') }
}

/** Variables that hold secrets, or have them inside. */
export function secretVariables({ definition }: DestinationModule): string[] {
  return [...new Set(definition.config.secretKeys.map((key) => key.split('.')[0]!))]
}

function stagesFor(module: DestinationModule, config: JsonObject): Stages {
  const destination = { id: 'live', name: 'live', workspaceId: 'live', transformations: [], config, module }
  const nowSeconds = () => Math.floor(Date.now() / 1_000)
  return new Stages(destination, { userAgent: 'Millrace-Live', isUserAgentAdded: false, nowSeconds })
}

function ofNow(event: JsonObject): JsonObject {
  const now = new Date().toISOString()
  const fresh: JsonObject = { ...event, receivedAt: now }
  for (const member of ['timestamp', 'originalTimestamp']) if (member in event) fresh[member] = now
  if ('messageId' in event) fresh['messageId'] = randomUUID()
  return fresh
}

type Ready = MadeRequests['ready']

/** The request, and its status with the beginning of the answer, or why there is none. */
function told(request: OutboundRequest, answered: Answered, ready: Ready): string {
  const { method, endpoint } = ready.show(request)
  const masked = ready.mask(answered.text)
  if (answered.kind === 'no_answer') return `${method} ${endpoint} → no answer: ${masked}`
  if (answered.kind !== 'answer') return `${method} ${endpoint} → not sent: ${masked}`
  return `${method} ${endpoint} → ${answered.status}${shortened(masked)}`
}

/** As live traffic judges it: by what the answer says of the event, else by its status. */
function isAccepted(answered: Answered, ready: Ready): boolean {
  if (answered.kind !== 'answer') return false
  const { status, text } = answered
  const headers = Object.fromEntries(Object.entries(answered.headers).map(([name, value]) => [name, String(value)]))
  const answer = { status, headers, body: parsed(text) }
  const outcome = ready.part?.joiner.outcomes?.(answer, [ready])?.[0] ?? ready.classify?.(answer) ?? status
  return typeof outcome === 'number' ? outcome >= 200 && outcome < 300 : outcome === 'delivered'
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

function shortened(answer: string): string {
  const line = answer.replace(/\s+/g, ' ').trim()
  if (line === '') return ''
  return ` ${line.length > MAX_SHOWN_CHARACTERS ? `${line.slice(0, MAX_SHOWN_CHARACTERS)}…` : line}`
}

/** A configuration as it is given; a list or a text is none. @throws Error that never shows what was given. */
export function configurationOf(text: string, place: string): JsonObject {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    throw new Error(`${place} is no JSON: give an object such as {"apiKey": "…"}`)
  }
  if (!isJsonObject(value as JsonObject)) throw new Error(`${place} is no object: give one such as {"apiKey": "…"}`)
  return value as JsonObject
}
