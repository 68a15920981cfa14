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

/** How definitions and connectionMode name a source type. */
export type SourceClass = 'cordova' | 'web' | 'cloud'

export interface SourceConfig {
  /** 0 means no limit. */
  readonly rateLimitEventsPerMinute: number
  readonly dedupWindowSeconds: number
  readonly orderShards: number
  readonly catalog: { readonly samples: 'full' | 'masked' | 'off'; readonly values: 'on' | 'off' }
  /** What becomes of events that say nothing of consent, at destinations that ask for it. Undefined: they are sent. */
  readonly withoutConsent?: 'hold_back' | undefined
  /** Of a source of WEBHOOK_TYPES, and of no other. */
  readonly webhook?: WebhookConfig
}

/** How the events of a webhook are read. Paths are names joined by dots; "": nothing is looked for. */
export interface WebhookConfig {
  readonly eventPath: string
  readonly userIdPath: string
  readonly anonymousIdPath: string
  readonly messageIdPath: string
  /** The service whose signature each request has to have. */
  readonly signature: 'none' | 'github' | 'stripe' | 'shopify'
  /** Key of the credential that holds the secret of the signature. */
  readonly secretCredential: string
}

export interface Source extends Resource {
  /** Names it in configuration as code; stays when the name changes. */
  readonly key: string
  readonly name: string
  readonly type: SourceType
  readonly writeKey: string
  /** Rotated away, accepted until they expire (milliseconds since 1970). */
  readonly previousWriteKeys: readonly { readonly key: string; readonly expiresAt: number }[]
  readonly config: SourceConfig
  /** Partition of the log that its events lie in; given when it is made. */
  readonly partition: number
  readonly workspaceId: string
}

/** Of a new source: the log has one partition. */
export const FIRST_PARTITION = 0

/** @see contracts/control-plane.md §5 [D735] */
export function sourceClass(type: SourceType): SourceClass {
  if (type === 'Cordova') return 'cordova'
  return type === 'Javascript' || type === 'AMP' || type === 'Pixel' ? 'web' : 'cloud'
}

/** Sources that services post webhooks to, and that take nothing else. */
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
