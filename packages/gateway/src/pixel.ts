import { messageHash, messageIdOf, pixelEvent, pixelNesting } from '@millrace/protocol'
import { type CheckedEvents, type EventLimits, hasIds } from './event-check.ts'
import { Exchange } from './exchange.ts'
import { Refusal } from './refusals.ts'

/** A transparent GIF of one pixel. */
const PIXEL = Buffer.from('R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7', 'base64')

const PIXEL_HEADERS = { 'Content-Type': 'image/gif', 'Cache-Control': 'no-store' }

/**
 * A request for the pixel. Whoever shows it cannot react to errors, so bad input gets the picture and 200 as well; only
 * what could not be stored gets 503.
 */
export class PixelExchange extends Exchange {
  override accept(headers?: Readonly<Record<string, string>>): void {
    this.send(200, { ...PIXEL_HEADERS, ...headers }, PIXEL)
  }

  override refuse(refusal: Refusal): void {
    const { status, text } = this.note(refusal.reason)
    if (status === 503) {
      this.send(503, { ...PIXEL_HEADERS, ...refusal.headers }, PIXEL)
      return
    }
    this.deps.logger.info({ route: this.path, reason: refusal.reason, requestId: this.id }, 'pixel refused')
    this.send(200, { ...PIXEL_HEADERS, ...refusal.headers, 'X-Millrace-Error': text }, PIXEL)
  }
}

/** The JSON that a pixel carries as `data`: in base64 of either alphabet, or plain. Empty where there is none. */
export function pixelData(query: string): Buffer {
  const data = new URLSearchParams(query).get('data') ?? ''
  // A plus that was not escaped is read as a space.
  return data.startsWith('{') ? Buffer.from(data) : Buffer.from(data.replaceAll(' ', '+'), 'base64')
}

/**
 * Checks of the event that a pixel's query string stands for; the same as for a body, as far as they apply.
 *
 * @see contracts/ingest.md §7
 */
export function checkPixel(
  query: string,
  type: 'track' | 'page',
  seed: Uint8Array,
  limits: EventLimits,
): CheckedEvents | Refusal {
  if (limits.maxEventBytes > 0 && query.length > limits.maxEventBytes) return new Refusal('event_size')
  if (pixelNesting(query) > limits.maxNesting) return new Refusal('nesting')
  // Judged as the readers will see it; the time of acceptance matters to none of these checks.
  const event = pixelEvent(query, type, '')
  if (!hasIds(event)) return new Refusal('no_ids')
  return { types: [type], messageHashes: messageHash(messageIdOf(event['messageId'], seed, 0)) }
}
