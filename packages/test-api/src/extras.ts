import { createHash } from 'node:crypto'
import { maskConfig } from '@millrace/destinations'
import { isJsonObject, type JsonObject, type JsonValue } from '@millrace/protocol'
import { liveFilters } from './live-filters.ts'
import type { TestedParts } from './tested-parts.ts'
import { WARNING_TEXTS } from './texts.ts'

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
  filter: (parts) => ({ filter: liveFilters(parts) }),
  batch: (parts) => ({ batch: batch(parts) }),
  warnings: (parts) => ({ warnings: warnings(parts).map((text) => parts.masking.text(text)) }),
}

export const EXTRA_WORDS: ReadonlySet<string> = new Set(Object.keys(EXTRAS))

export function extrasOf(parts: TestedParts): JsonObject {
  const { include } = parts.run.asked
  return Object.assign({}, ...Object.keys(EXTRAS).map((word) => (include.has(word) ? EXTRAS[word]!(parts) : {})))
}

/** How many live events may share the request; null where it carries one. */
function batch({ test: { made } }: TestedParts): JsonObject | null {
  const part = made.length === 1 ? made[0]!.ready.part : undefined
  return part === undefined ? null : { maxEvents: Math.min(part.joiner.maxEvents, part.maxEvents) }
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
