import { formatTime, type JsonObject } from '@millrace/protocol'
import type { Resource } from './resource.ts'

export const SOURCE_TYPES = [
  'Cordova',
  'Javascript',
  'Android',
  'iOS',
  'ReactNative',
  'Flutter',
  'Node',
  'Python',
  'Go',
  'Java',
  'Ruby',
  'PHP',
  'DotNet',
  'Kotlin',
  'Swift',
  'Rust',
  'Unity',
  'AMP',
  'Shopify',
  'HTTP',
  'Pixel',
  'Webhook',
] as const

export type SourceType = (typeof SOURCE_TYPES)[number]

/** The class of a source type in definitions and connectionMode. */
export type SourceClass = 'cordova' | 'web' | 'cloud'

export interface SourceConfig {
  /** 0 means no limit. */
  readonly rateLimitEventsPerMinute: number
  readonly dedupWindowSeconds: number
  readonly orderShards: number
  readonly catalog: { readonly samples: 'full' | 'masked' | 'off'; readonly values: 'on' | 'off' }
  /** Whether events without consent go to destinations that ask for it; undefined: yes. */
  readonly withoutConsent?: 'hold_back' | undefined
  /** Only for sources of WEBHOOK_TYPES. */
  readonly webhook?: WebhookConfig
}

/** How the events of a webhook are read. Paths are names joined by dots; "" reads nothing. */
export interface WebhookConfig {
  readonly eventPath: string
  readonly userIdPath: string
  readonly anonymousIdPath: string
  readonly messageIdPath: string
  /** The service whose signature each request must have. */
  readonly signature: 'none' | 'github' | 'stripe' | 'shopify'
  /** Key of the credential that holds the signing secret. */
  readonly secretCredential: string
}

export interface Source extends Resource {
  /** Identifies it in configuration as code; stays when the name changes. */
  readonly key: string
  readonly name: string
  readonly type: SourceType
  readonly writeKey: string
  /** Former keys, accepted until they expire (milliseconds since 1970). */
  readonly previousWriteKeys: readonly { readonly key: string; readonly expiresAt: number }[]
  readonly config: SourceConfig
  /** Partition of the log for its events; assigned at creation. */
  readonly partition: number
  readonly workspaceId: string
}

/** @see contracts/control-plane.md §5 [D735] */
export function sourceClass(type: SourceType): SourceClass {
  if (type === 'Cordova') return 'cordova'
  return type === 'Javascript' || type === 'AMP' || type === 'Pixel' ? 'web' : 'cloud'
}

/** Sources that receive webhooks of services, and no other events. */
export const WEBHOOK_TYPES: readonly SourceType[] = ['Webhook', 'Shopify']

export function sourceJson(source: Source): JsonObject {
  const { rateLimitEventsPerMinute, dedupWindowSeconds, orderShards, catalog, withoutConsent, webhook } = source.config
  const config = {
    rateLimitEventsPerMinute,
    dedupWindowSeconds,
    orderShards,
    catalog: { ...catalog },
    // The contract shows it only where it was chosen.
    ...(withoutConsent === undefined ? {} : { withoutConsent }),
  }
  return {
    id: source.id,
    key: source.key,
    name: source.name,
    type: source.type,
    writeKey: source.writeKey,
    enabled: source.isEnabled,
    config: webhook === undefined ? config : { ...config, webhook: { ...webhook } },
    workspaceId: source.workspaceId,
    createdAt: formatTime(source.createdAt),
    updatedAt: formatTime(source.updatedAt),
  }
}
