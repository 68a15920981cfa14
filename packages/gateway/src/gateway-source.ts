import type { WebhookSettings } from './webhook.ts'

/** The parts of a source that the gateway needs. */
export interface GatewaySource {
  readonly id: string
  readonly isEnabled: boolean
  /** The partition of the log for its events. */
  readonly partition: number
  /** Over how many partitions its users are spread, from that one on. */
  readonly orderShards: number
  /** 0 means no limit. */
  readonly rateLimitEventsPerMinute: number
  /** Absent or 0: all repeated messageIds are accepted. */
  readonly dedupWindowSeconds?: number
  /** Only for a webhook source, which accepts no other events. */
  readonly webhook?: WebhookSettings
}
