import { ATTEMPTS, type DedupRule } from '@millrace/log'
import type { JsonObject } from '@millrace/protocol'
import type { GatewaySource } from '../gateway-source.ts'
import type { IngestRoute } from '../ingest-routes.ts'

/** Uses the source's window, else the `attempt` of the envelope. @returns undefined if every event is stored. */
export function dedupRuleOf(
  { dedupWindowSeconds = 0 }: Pick<GatewaySource, 'dedupWindowSeconds'>,
  { readsAttempt }: Pick<IngestRoute, 'readsAttempt'>,
  body?: JsonObject,
): DedupRule | undefined {
  if (dedupWindowSeconds > 0) return { windowMs: dedupWindowSeconds * 1000 }
  const said = readsAttempt ? body?.['attempt'] : undefined
  const attempt = ATTEMPTS.find((each) => each === said)
  return attempt && { attempt }
}
