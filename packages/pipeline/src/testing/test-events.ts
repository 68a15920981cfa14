import { ENRICHMENT_RULES, type JsonObject, messageHash } from '@millrace/protocol'

/** A track event; blank ids are omitted. */
export function track(messageId: string, userId = '', more: object = {}) {
  return { type: 'track', event: 'Seat Reserved', messageId, ...(userId === '' ? {} : { userId }), ...more }
}

export function tracks(count: number, userId: (n: number) => string = () => '', prefix = 'm'): object[] {
  return Array.from({ length: count }, (_, n) => track(`${prefix}-${n}`, userId(n)))
}

/** One batch, as the gateway appends it. */
export function recordOf(events: readonly object[], sourceId: string, acceptedAt: number) {
  const messageIds = events.map((event) => String((event as JsonObject)['messageId']))
  return {
    header: {
      sourceId,
      route: 'batch' as const,
      acceptedAt,
      clientAddress: '192.0.2.1',
      seed: Buffer.alloc(16, 7),
      rules: ENRICHMENT_RULES,
      policySet: 0,
      messageHashes: Buffer.concat(messageIds.map(messageHash)),
    },
    body: Buffer.from(JSON.stringify({ batch: events })),
  }
}
