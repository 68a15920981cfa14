import { createHash } from 'node:crypto'
import {
  batchKeyOf,
  batchLimitsOf,
  type DestinationModule,
  type Masking,
  maskConfig,
  type Override,
} from '@millrace/destinations'
import { filterReason } from '@millrace/pipeline'
import { isJsonObject, type JsonObject, type JsonValue, type StoredEvent } from '@millrace/protocol'
import type { DestinationTest } from './destination-test.ts'
import type { TestedDestination } from './test-api-options.ts'
import type { TestRun } from './test-run.ts'
import { WARNING_TEXTS } from './texts.ts'

/** What extras are made of. */
export interface TestedParts {
  readonly run: TestRun
  readonly destination: TestedDestination
  readonly module: DestinationModule
  readonly override: Override
  readonly test: DestinationTest
  readonly masking: Masking
}

/** By the words of `?include=`. @see contracts/test-api.md §11 [D232] */
const EXTRAS: Readonly<Record<string, (parts: TestedParts) => JsonObject>> = {
  versions: ({ run, destination, module, override }) => ({
    transformationVersionIds: destination.transformations.map(({ versionId }) => versionId),
    configHash: hash(maskConfig(module.definition, override.config)),
    serverVersion: run.options.version,
  }),
  steps: ({ test, masking }) => ({
    steps: test.userSteps.map(({ transformationId, versionId, events, error }) => ({
      transformationId,
      versionId,
      ...(error === undefined ? { output: masking.value([...(events ?? [])]) } : { error: masking.text(error) }),
    })),
  }),
  events: ({ test, masking }) => ({ userTransformedEvents: masking.value([...test.userEvents]) }),
  logs: ({ test, masking }) => ({ logs: masking.value([...test.logs]) }),
  timings: ({ test }) => ({ timings: { ...test.timings } }),
  filter: ({ run, destination, module, override }) => {
    const { id, name } = destination
    const { source, options, message } = run
    const sourceClass = source === undefined ? '' : options.sourceClass(source.type)
    const filtered = { id, name, config: override.config, module }
    const reason = destination.isEnabled
      ? (filterReason(message as StoredEvent, filtered, sourceClass) ?? null)
      : 'destination is disabled'
    return { filter: { skipped: reason !== null, reason } }
  },
  batch: (parts) => ({ batch: batch(parts) }),
  warnings: (parts) => ({ warnings: warnings(parts).map((text) => parts.masking.text(text)) }),
}

export const EXTRA_WORDS: ReadonlySet<string> = new Set(Object.keys(EXTRAS))

export function extrasOf(parts: TestedParts): JsonObject {
  const { include } = parts.run.asked
  return Object.assign({}, ...Object.keys(EXTRAS).map((word) => (include.has(word) ? EXTRAS[word]!(parts) : {})))
}

/** How many live events may share the request; null where it carries one. */
function batch({ module, override, test }: TestedParts): JsonObject | null {
  const limits = batchLimitsOf(module, override.config)
  const requests = test.made.flatMap(({ objects }) => objects)
  const part = requests.length === 1 && limits !== undefined ? batchKeyOf(module.batches!, requests[0]!) : undefined
  return part === undefined ? null : { maxEvents: Math.min(limits!.maxEvents, part.maxEvents) }
}

function warnings({ run, module, override, test }: TestedParts): string[] {
  const { secretsElsewhere, unknownKeys } = override
  const { maxEventBytes } = run.options.limits
  const isOversized = maxEventBytes > 0 && Buffer.byteLength(JSON.stringify(run.message)) > maxEventBytes
  return [
    ...(secretsElsewhere === undefined ? [] : [WARNING_TEXTS[secretsElsewhere]]),
    ...unknownKeys.map((key) => WARNING_TEXTS.unknownKey(key, module.definition.name)),
    ...(test.made.some(({ isPartial }) => isPartial) ? [WARNING_TEXTS.partial] : []),
    ...[...new Set(test.made.flatMap(({ rules }) => rules))].map(WARNING_TEXTS.rule),
    ...test.sendingFaults,
    ...(isOversized ? [WARNING_TEXTS.oversized(maxEventBytes / 1024)] : []),
  ]
}

/** Hex SHA-256, whatever the order of members. */
function hash(config: JsonObject): string {
  return createHash('sha256')
    .update(JSON.stringify(ordered(config)))
    .digest('hex')
}

function ordered(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map(ordered)
  if (!isJsonObject(value)) return value
  return Object.fromEntries(
    Object.keys(value)
      .sort()
      .map((name) => [name, ordered(value[name]!)]),
  )
}
