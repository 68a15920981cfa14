import type { Snapshot, WebhookConfig } from '@millrace/control-plane'
import type { GatewaySource, WebhookSettings } from '@millrace/gateway'

/**
 * @param credential the value of a credential by its key, if it exists.
 * @returns a function that finds the gateway's view of a source; the view is created once per source and revision.
 */
export function gatewaySources(snapshot: () => Snapshot, credential: (key: string) => string | undefined) {
  const views = new WeakMap<object, GatewaySource>()
  return (writeKey: string): GatewaySource | undefined => {
    const source = snapshot().sourceByWriteKey(writeKey)
    if (source === undefined) return undefined
    let view = views.get(source)
    if (view === undefined) {
      const { rateLimitEventsPerMinute, dedupWindowSeconds, orderShards, webhook } = source.config
      view = {
        id: source.id,
        isEnabled: source.isEnabled,
        partition: source.partition,
        orderShards,
        rateLimitEventsPerMinute,
        dedupWindowSeconds,
        ...(webhook === undefined ? {} : { webhook: webhookSettings(webhook, credential) }),
      }
      views.set(source, view)
    }
    return view
  }
}

function webhookSettings(
  { eventPath, userIdPath, anonymousIdPath, messageIdPath, signature, secretCredential }: WebhookConfig,
  credential: (key: string) => string | undefined,
): WebhookSettings {
  const paths = { event: eventPath, userId: userIdPath, anonymousId: anonymousIdPath, messageId: messageIdPath }
  if (signature === 'none') return { paths }
  return { paths, signature: { scheme: signature, secret: () => credential(secretCredential) } }
}
