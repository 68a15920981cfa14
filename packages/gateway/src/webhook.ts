import { createHmac, timingSafeEqual } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import {
  isJsonObject,
  isNestedDeeper,
  type JsonObject,
  type WebhookPaths,
  webhookBody,
  webhookEvents,
} from '@millrace/protocol'
import { type CheckedEvents, type EventLimits, readJson } from './events/event-check.ts'
import { Refusal } from './refusals.ts'

export const SIGNATURE_SCHEMES = ['github', 'stripe', 'shopify'] as const
export type SignatureScheme = (typeof SIGNATURE_SCHEMES)[number]

/** The settings of a webhook source. */
export interface WebhookSettings {
  readonly paths: WebhookPaths
  /** Absent: requests are not signed. */
  readonly signature?: {
    readonly scheme: SignatureScheme
    /** Undefined: the credential is missing, and no request is accepted. */
    readonly secret: () => string | undefined
  }
}

/** Maximum age of a request by `t` of Stripe's signature, as Stripe recommends. */
const TOLERANCE_MS = 300_000
/** Nesting levels around the payload: the event. */
const EVENT_LEVELS = 1

/** A webhook that passed every check. */
export interface CheckedWebhook extends CheckedEvents {
  /** Content of its record. */
  readonly body: Buffer
  readonly parsed: JsonObject
}

/** Checks 9 to 12 of a webhook. @param now ms since 1970. @see contracts/ingest.md §6, §7 */
export function checkWebhook(
  headers: IncomingHttpHeaders,
  body: Buffer,
  { paths, signature }: WebhookSettings,
  seed: Uint8Array,
  limits: EventLimits,
  now: number,
): CheckedWebhook | Refusal {
  if (body.length === 0) return new Refusal('empty_body')
  if (signature !== undefined && !isSigned(headers, body, signature.scheme, signature.secret(), now)) {
    return new Refusal('webhook_signature')
  }
  // An array around the objects is not a level of the events.
  const payload = readJson(body, limits.maxNesting, 0)
  if (payload instanceof Refusal) return new Refusal(payload.reason)
  const { value } = payload
  if (!Array.isArray(value) && !isJsonObject(value)) return new Refusal('invalid_json')
  const elements = Array.isArray(value) ? value : [value]
  if (elements.length === 0) return new Refusal('empty_batch')
  if (elements.length > limits.maxBatchEvents) return new Refusal('batch_size')
  for (const [i, element] of elements.entries()) {
    if (!isJsonObject(element)) return new Refusal('invalid_event', { eventIndex: i })
    if (isNestedDeeper(element, limits.maxNesting - EVENT_LEVELS)) return new Refusal('nesting', { eventIndex: i })
  }
  const parsed: JsonObject = { paths: { ...paths }, payload: value }
  const events = webhookEvents(parsed, seed)
  return { events, types: events.map(() => 'track'), body: webhookBody(paths, body), parsed }
}

/** Each by the public documentation of the service: an HMAC-SHA256 over the received bytes. */
function isSigned(
  headers: IncomingHttpHeaders,
  body: Buffer,
  scheme: SignatureScheme,
  secret: string | undefined,
  now: number,
): boolean {
  if (secret === undefined || secret === '') return false
  const digest = (...parts: (string | Buffer)[]) => {
    const hmac = createHmac('sha256', secret)
    for (const part of parts) hmac.update(part)
    return hmac
  }
  switch (scheme) {
    case 'github':
      return isSame(headers['x-hub-signature-256'], `sha256=${digest(body).digest('hex')}`)
    case 'shopify':
      return isSame(headers['x-shopify-hmac-sha256'], digest(body).digest('base64'))
    case 'stripe': {
      const header = headers['stripe-signature']
      if (typeof header !== 'string') return false
      const parts = header.split(',').map((part) => part.trim().split('='))
      const time = parts.find(([name]) => name === 't')?.[1] ?? ''
      if (!/^\d{1,12}$/.test(time) || Math.abs(now - Number(time) * 1000) > TOLERANCE_MS) return false
      const expected = digest(`${time}.`, body).digest('hex')
      // While a secret is rotated, there are several.
      return parts.some(([name, given]) => name === 'v1' && isSame(given, expected))
    }
  }
}

function isSame(given: string | string[] | undefined, expected: string): boolean {
  if (typeof given !== 'string') return false
  const [a, b] = [Buffer.from(given), Buffer.from(expected)]
  return a.length === b.length && timingSafeEqual(a, b)
}
