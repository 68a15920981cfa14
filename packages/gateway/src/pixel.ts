import { pixelEvent, pixelNesting } from '@millrace/protocol'
import { type CheckedEvents, type EventLimits, hasIds } from './events/event-check.ts'
import { Refusal } from './refusals.ts'
import { Exchange } from './requests/exchange.ts'

/** A transparent GIF of one pixel. */
const PIXEL = Buffer.from('R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7', 'base64')

const PIXEL_HEADERS = { 'Content-Type': 'image/gif', 'Cache-Control': 'no-store' }

/**
 * A request for the pixel. A page that shows it cannot react to errors, so bad input also gets the picture and 200;
 * only events that could not be stored get 503.
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

/** The JSON in a pixel's `data`: in base64 of either alphabet, or plain. Empty if there is none. */
export function pixelData(query: string): Buffer {
  const data = new URLSearchParams(query).get('data') ?? ''
  // An unescaped plus sign is decoded as a space.
  return data.startsWith('{') ? Buffer.from(data) : Buffer.from(data.replaceAll(' ', '+'), 'base64')
}

/**
 * Checks the event in a pixel's query; the same checks as for a body, where they apply.
 *
 * @see contracts/ingest.md §7
 */
export function checkPixel(query: string, type: 'track' | 'page', limits: EventLimits): CheckedEvents | Refusal {
  if (limits.maxEventBytes > 0 && query.length > limits.maxEventBytes) return new Refusal('event_size')
  if (pixelNesting(query) > limits.maxNesting) return new Refusal('nesting')
  // Checks the event as readers will see it; no check depends on the time of acceptance.
  const event = pixelEvent(query, type, '')
  if (!hasIds(event)) return new Refusal('no_ids')
  return { events: [event], types: [type] }
}
