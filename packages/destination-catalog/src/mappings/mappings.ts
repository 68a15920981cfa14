import { isJsonObject, type JsonObject } from '@millrace/protocol'
import type { EntryActions } from '../definitions/entry.ts'
import type { RunMapping } from '../messages.ts'

/** A mapping with everything that decides when it applies. */
export interface Mapping extends RunMapping {
  /** Position in `subscriptions`, or in the default mappings; the same for the same configuration. */
  readonly index: number
  readonly name: string
  readonly trigger: string
  /** Maximum events of one run; absent where each event runs alone. */
  readonly maxBatch?: number
}

/** A mapping as it is configured. The schema has checked the kinds of its members. */
export interface WrittenMapping {
  readonly action: string
  readonly name?: string
  readonly enabled?: boolean
  readonly trigger?: string
  readonly preset?: string
  readonly base?: 'default' | 'none'
  readonly mapping?: JsonObject
  readonly syncMode?: string
  readonly matchingKey?: string
  readonly batch?: boolean
}

/**
 * The enabled mappings of a configuration; without `subscriptions`, those of the definition.
 *
 * @see contracts/destination-catalog.md §7.4 [C19, C42]
 */
export function mappingsOf(config: JsonObject, details: EntryActions): readonly Mapping[] {
  const written = config['subscriptions']
  if (!Array.isArray(written)) return defaultMappings(details)
  return written.flatMap((each, index): Mapping[] => {
    if (!isJsonObject(each)) return []
    const { enabled, action, name, preset, base, mapping, syncMode, matchingKey } = each as unknown as WrittenMapping
    const maxBatch = maxBatchOf(each as unknown as WrittenMapping, details)
    const trigger = triggerOf(each as unknown as WrittenMapping, details)
    if (enabled === false || trigger === undefined || details.actions[action] === undefined) return []
    return [
      {
        index,
        name: name ?? preset ?? details.actions[action].title,
        trigger,
        action,
        base: preset === undefined ? (base ?? 'none') : 'preset',
        ...(preset === undefined ? {} : { preset }),
        mapping: mapping ?? {},
        ...(syncMode === undefined ? {} : { syncMode }),
        ...(matchingKey === undefined ? {} : { matchingKey }),
        ...(maxBatch === undefined ? {} : { maxBatch }),
      },
    ]
  })
}

/** The trigger of a written mapping: its own, its preset's, its action's; undefined if there is none. */
export function triggerOf(written: WrittenMapping, { actions, presets }: EntryActions): string | undefined {
  const preset = presets.find(({ name, action }) => name === written.preset && action === written.action)
  return written.trigger ?? preset?.trigger ?? actions[written.action]?.trigger ?? undefined
}

/** @see contracts/destination-catalog.md §9.3 [C44] */
function maxBatchOf({ batch, action, mapping = {} }: WrittenMapping, { actions }: EntryActions): number | undefined {
  const most = actions[action]?.maxBatch
  if (batch !== true || most === undefined) return undefined
  const { batch_size: written } = mapping
  return typeof written === 'number' && written >= 1 ? Math.min(most, Math.floor(written)) : most
}

function defaultMappings({ actions, presets }: EntryActions): Mapping[] {
  if (presets.length > 0) {
    return presets.map(({ name, action, trigger }, index) => {
      return { index, name, trigger, action, base: 'preset', preset: name, mapping: {} }
    })
  }
  const withTrigger = Object.entries(actions).filter(([, { trigger }]) => trigger !== null)
  return withTrigger.map(([action, { title, trigger }], index) => {
    return { index, name: title, trigger: trigger!, action, base: 'default', mapping: {} }
  })
}
