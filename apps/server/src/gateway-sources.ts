import type { Snapshot } from '@millrace/control-plane'
import type { GatewaySource } from '@millrace/gateway'

/** @returns what finds the gateway's view of a source; made once per source and revision, not once per request. */
export function gatewaySources(snapshot: () => Snapshot) {
  const views = new WeakMap<object, GatewaySource>()
  return (writeKey: string): GatewaySource | undefined => {
    const source = snapshot().sourceByWriteKey(writeKey)
    if (source === undefined) return undefined
    let view = views.get(source)
    if (view === undefined) {
      const { rateLimitEventsPerMinute, dedupWindowSeconds } = source.config
      view = { id: source.id, isEnabled: source.isEnabled, rateLimitEventsPerMinute, dedupWindowSeconds }
      views.set(source, view)
    }
    return view
  }
}
