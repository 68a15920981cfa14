import { ENRICHMENT_RULES, type EventRecord } from '@millrace/protocol'

/** A record of a batch, as the gateway appends it. @param body of the request. */
export function recordOf(body: Buffer, messageHashes: Buffer): EventRecord {
  return {
    header: {
      sourceId: '2mYm4dk3bQ1vJp7wXyZ0aBcDeFg',
      route: 'batch',
      acceptedAt: Date.now(),
      clientAddress: '203.0.113.9',
      seed: new Uint8Array(16),
      rules: ENRICHMENT_RULES,
      policySet: 0,
      messageHashes,
    },
    body,
  }
}
