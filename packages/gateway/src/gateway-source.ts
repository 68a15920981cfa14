import type { WebhookSettings } from './webhook.ts'

/** What the gateway has to know of a source. */
export interface GatewaySource {
  readonly id: string
  readonly isEnabled: boolean
  /** The partition of the log that its events go to. */
  readonly partition: number
  /** 0 means no limit. */
  readonly rateLimitEventsPerMinute: number
  /** Absent or 0: repeated messageIds are all accepted. */
  readonly dedupWindowSeconds?: number
  /** Of a webhook source, which accepts nothing else. */
  readonly webhook?: WebhookSettings
}
