import { EVENT_TYPES, isJsonObject, type JsonObject, type JsonValue } from '@millrace/protocol'
import { EXTRA_WORDS } from './extras.ts'
import type { StageFlags, TestOptions } from './stage-flags.ts'
import { TestRefused } from './test-refused.ts'
import { REFUSAL_TEXTS } from './texts.ts'

const FLAGS = ['user_transform', 'dest_transform', 'send_to_destination'] as const

/** What can be tested: `merge` has no place in a destination. */
export const MESSAGE_TYPES: readonly string[] = EVENT_TYPES.filter((type) => type !== 'merge')

/** @throws TestRefused @see contracts/test-api.md §3, §8 step 7 */
export function messageOf({ message }: JsonObject): JsonObject {
  const type = isJsonObject(message) ? message['type'] : undefined
  if (typeof type !== 'string') throw new TestRefused(400, REFUSAL_TEXTS.typeMissing)
  if (!MESSAGE_TYPES.includes(type)) throw new TestRefused(400, REFUSAL_TEXTS.typeUnsupported)
  return message as JsonObject
}

/** @throws TestRefused @see contracts/test-api.md §3, §8 step 8 */
export function overrideOf({ destinationConfig }: JsonObject): JsonObject | undefined {
  if (destinationConfig === undefined || isJsonObject(destinationConfig)) return destinationConfig
  throw new TestRefused(400, REFUSAL_TEXTS.overrideNoObject)
}

/** @throws TestRefused @see contracts/test-api.md §5 [D235] */
export function refuseOverride({ destinationConfig }: JsonObject): void {
  if (destinationConfig !== undefined) throw new TestRefused(400, REFUSAL_TEXTS.overrideUnsupported)
}

/** What is left out counts as false: nothing is sent by accident. @throws TestRefused @see contracts/test-api.md §8 step 12 */
export function stageOf({ stage }: JsonObject): StageFlags {
  if (!isJsonObject(stage)) throw new TestRefused(400, REFUSAL_TEXTS.stageMissing)
  const [user_transform, dest_transform, send_to_destination] = FLAGS.map((flag) => flagOf(flag, stage[flag]))
  return { user_transform: user_transform!, dest_transform: dest_transform!, send_to_destination: send_to_destination! }
}

function flagOf(flag: string, value: JsonValue | undefined): boolean {
  if (value !== undefined && value !== null && typeof value !== 'boolean') {
    throw new TestRefused(400, REFUSAL_TEXTS.flagNoBoolean(flag))
  }
  return value === true
}

/** A member that came several times is a list. */
export function askedIn(query: unknown): TestOptions {
  const { force, include, reveal } = query as Readonly<Record<string, string | string[] | undefined>>
  return {
    force: [force].flat().at(-1)?.toLowerCase() === 'true',
    include: EXTRA_WORDS.intersection(
      new Set([include ?? []].flat().flatMap((list) => list.split(',').map((word) => word.trim()))),
    ),
    masksSupplied: [reveal].flat().includes('none'),
  }
}
