import { type ConsentRequirement, formatTime, type JsonObject } from '@millrace/protocol'
import type { PublishedTransformation } from '../transformations/code.ts'
import { consentJson } from './consent-schema.ts'
import type { Resource } from './resource.ts'

export interface DeliverySettings {
  readonly concurrency: number
  readonly ordering: 'strict' | 'none'
  readonly throttle: { readonly limit: number; readonly windowSeconds: number } | null
  readonly onTransformationError: 'dead_letter' | 'pass_through'
  readonly keepAnswers: 'failed' | 'all'
}

export const DEFAULT_DELIVERY: DeliverySettings = {
  concurrency: 100,
  ordering: 'strict',
  throttle: null,
  onTransformationError: 'dead_letter',
  keepAnswers: 'failed',
}

export interface Destination extends Resource {
  /** Identifies it in configuration as code; stays when the name changes. */
  readonly key: string
  readonly name: string
  /** Name of its definition, such as `WEBHOOK`. */
  readonly type: string
  /** Secrets are in clear text: show only `maskConfig` of it. */
  readonly config: JsonObject
  readonly transformationIds: readonly string[]
  /** The current versions of these, in order. The snapshot fills it in; never stored. */
  readonly transformations: readonly PublishedTransformation[]
  readonly delivery: DeliverySettings
  /** Undefined: consent does not matter to it. */
  readonly consent?: ConsentRequirement | undefined
  readonly workspaceId: string
}

/** @param maskedConfig the config with masked secrets. */
export function destinationJson(destination: Destination, maskedConfig: JsonObject): JsonObject {
  const { concurrency, ordering, throttle, onTransformationError, keepAnswers } = destination.delivery
  return {
    id: destination.id,
    key: destination.key,
    name: destination.name,
    type: destination.type,
    enabled: destination.isEnabled,
    config: maskedConfig,
    transformationIds: [...destination.transformationIds],
    delivery: {
      concurrency,
      ordering,
      throttle: throttle && { ...throttle },
      onTransformationError,
      // The contract shows it only if it was set.
      ...(keepAnswers === DEFAULT_DELIVERY.keepAnswers ? {} : { keepAnswers }),
    },
    ...consentJson(destination.consent),
    workspaceId: destination.workspaceId,
    createdAt: formatTime(destination.createdAt),
    updatedAt: formatTime(destination.updatedAt),
  }
}
