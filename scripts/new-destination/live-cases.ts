import { randomUUID } from 'node:crypto'
import type { DestinationCase } from '../../packages/destinations/src/destination-case.ts'
import {
  type DestinationModule,
  Masking,
  type RequestObject,
  runTransform,
  secretValues,
  toWire,
} from '../../packages/destinations/src/index.ts'
import { isJsonObject, type JsonObject, type StoredEvent } from '../../packages/protocol/src/index.ts'

/** What became of a case: `skipped` cases send nothing. */
export interface LiveResult {
  readonly outcome: 'accepted' | 'refused' | 'skipped'
  /** On one line, without secrets. */
  readonly text: string
}

const TIMEOUT_MS = 30_000
/** Of an answer, so much is read, and so much is shown. */
const MAX_READ_BYTES = 64 * 1_024
const MAX_SHOWN_CHARACTERS = 300
const METADATA = { sourceId: 'live', destinationId: 'live', destinationName: 'live', messageId: 'live' }

/**
 * Sends the requests of a documented case, one after the other, until one is refused. The given configuration goes before that of
 * the case; the event is of now, because services refuse old ones, and has an id of its own.
 *
 * @param origin where to send instead of the address of the service, for example `http://127.0.0.1:8080`.
 */
export async function sendCase(
  module: DestinationModule,
  { config: ofCase, event, expected }: DestinationCase,
  given: JsonObject,
  origin: string | undefined,
): Promise<LiveResult> {
  if ('error' in expected) return { outcome: 'skipped', text: 'it makes no request' }
  const missing = secretVariables(module).filter((name) => name in ofCase && !(name in given))
  if (missing.length > 0) return { outcome: 'skipped', text: `it needs ${missing.join(' and ')}` }
  const config = { ...ofCase, ...given }
  const made = runTransform(module, ofNow(event), config, METADATA)
  const masking = new Masking([
    ...secretValues(module.definition, config),
    ...('error' in made ? [] : made.derivedSecrets),
  ])
  if ('error' in made) return { outcome: 'refused', text: masking.text(`no request: ${made.error}`) }
  if (made.requests.length === 0) return { outcome: 'skipped', text: 'the configuration does not want the event' }
  const texts: string[] = []
  for (const request of made.requests) {
    const { isAccepted, text } = await send(module, request, config, origin, masking)
    texts.push(text)
    if (!isAccepted) return { outcome: 'refused', text: texts.join('; ') }
  }
  return { outcome: 'accepted', text: texts.join('; ') }
}

/** Variables that hold secrets, or have them inside. */
export function secretVariables({ definition }: DestinationModule): string[] {
  return [...new Set(definition.config.secretKeys.map((key) => key.split('.')[0]!))]
}

function ofNow(event: JsonObject): StoredEvent {
  const now = new Date().toISOString()
  const fresh: JsonObject = { ...event, receivedAt: now }
  for (const member of ['timestamp', 'originalTimestamp']) if (member in event) fresh[member] = now
  if ('messageId' in event) fresh['messageId'] = randomUUID()
  return fresh as StoredEvent
}

async function send(
  module: DestinationModule,
  request: RequestObject,
  config: JsonObject,
  origin: string | undefined,
  masking: Masking,
): Promise<{ isAccepted: boolean; text: string }> {
  const { method, url, headers, body } = toWire(joined(module, request, config), 'Millrace-Live')
  const signed = module.sign?.({ url, body }, config, Math.floor(Date.now() / 1_000)) ?? {}
  const shown = `${method} ${masking.address(url)}`
  try {
    const response = await fetch(origin === undefined ? url : elsewhere(url, origin), {
      method,
      headers: { ...headers, ...signed },
      redirect: 'manual',
      signal: AbortSignal.timeout(TIMEOUT_MS),
      ...(body === '' ? {} : { body }),
    })
    const answer = await beginningOf(response)
    const isAccepted = judged(module, response, answer)
    return { isAccepted, text: `${shown} → ${response.status}${shortened(masking.text(answer))}` }
  } catch (error) {
    const { message, cause } = error as Error
    const reason = cause instanceof Error ? cause.message : message
    return { isAccepted: false, text: `${shown} → no answer: ${masking.text(reason)}` }
  }
}

/** As in live traffic, where a request of a type with batches goes through `join`, alone or with others. */
function joined({ batches }: DestinationModule, request: RequestObject, config: JsonObject): RequestObject {
  if (batches?.limits(config) === undefined || batches.key(request) === undefined) return request
  const { JSON: object, JSON_ARRAY } = request.body
  const text = Object.keys(object).length > 0 ? JSON.stringify(object) : String(JSON_ARRAY['batch'] ?? '')
  return batches.join([request], [text], config)
}

function judged(module: DestinationModule, response: Response, text: string): boolean {
  const headers = Object.fromEntries(response.headers)
  const answerClass = module.classify?.({ status: response.status, headers, body: parsed(text) })
  return answerClass === undefined ? response.ok : answerClass === 'delivered'
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

function elsewhere(url: string, origin: string): string {
  const { pathname, search } = new URL(url)
  return `${origin.replace(/\/$/, '')}${pathname}${search}`
}

async function beginningOf(response: Response): Promise<string> {
  const decoder = new TextDecoder()
  let text = ''
  let bytes = 0
  for await (const chunk of response.body ?? []) {
    bytes += chunk.byteLength
    text += decoder.decode(chunk, { stream: true })
    if (bytes > MAX_READ_BYTES) break
  }
  return text
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
