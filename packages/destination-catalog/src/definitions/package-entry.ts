import type { JsonValue } from '@millrace/protocol'
import type { EntryAction, EntryField, EntryPreset, GeneratedEntry } from './entry.ts'

/** The parts of a definition of the package that entries are made of. */
export interface PackageDefinition {
  readonly name: string
  readonly description?: string
  readonly authentication?: {
    readonly scheme: string
    readonly fields?: Readonly<Record<string, PackageField>>
    readonly testAuthentication?: unknown
  }
  readonly audienceConfig?: unknown
  readonly actions: Readonly<Record<string, PackageAction>>
  readonly presets?: readonly PackagePreset[]
}

interface PackageField {
  readonly label?: string
  readonly description?: string
  readonly type: string
  readonly multiple?: boolean
  readonly required?: boolean | object
  readonly default?: JsonValue
  readonly choices?: readonly (string | { readonly label: string; readonly value: string | number | boolean })[]
  readonly format?: string
}

interface PackageAction {
  readonly title: string
  readonly description: string
  readonly defaultSubscription?: string
  readonly fields?: Readonly<Record<string, PackageField>>
  readonly performBatch?: unknown
  readonly dynamicFields?: Readonly<Record<string, unknown>>
  readonly syncMode?: { readonly default: string; readonly choices: readonly { readonly value: string }[] }
}

export interface PackagePreset {
  readonly name: string
  readonly subscribe?: string
  readonly partnerAction: string
  readonly mapping?: Readonly<Record<string, JsonValue>>
  readonly type: string
}

/** The entry of a definition of the package. */
export function packageEntry(slug: string, definition: PackageDefinition): GeneratedEntry {
  const { name, description, authentication, audienceConfig, actions } = definition
  return {
    entry: {
      slug,
      originalName: name,
      description: description ?? '',
      fields: mapValues(authentication?.fields ?? {}, entryField),
      actions: Object.keys(actions),
      canTest: authentication?.testAuthentication !== undefined,
      isForAudiences: audienceConfig !== undefined,
    },
    details: { actions: mapValues(actions, entryAction), presets: usablePresets(definition).map(entryPreset) },
  }
}

/** Presets whose action exists on a server, by their unique names. Presets of an event of the publisher are not used. */
export function usablePresets({ presets = [], actions }: PackageDefinition): (PackagePreset & { subscribe: string })[] {
  const names = new Map<string, number>()
  return presets.flatMap((preset) => {
    const { subscribe, partnerAction, name } = preset
    if (subscribe === undefined || actions[partnerAction] === undefined || preset.type !== 'automatic') return []
    const count = (names.get(name) ?? 0) + 1
    names.set(name, count)
    return [{ ...preset, subscribe, name: count === 1 ? name : `${name} (${count})` }]
  })
}

function entryField(field: PackageField): EntryField {
  const { label, description, type, multiple, required, format } = field
  return {
    label: label ?? '',
    help: description ?? '',
    type,
    ...(multiple === true ? { multiple } : {}),
    ...(required === undefined || required === false ? {} : { required: required === true ? true : 'conditional' }),
    ...(field.default === undefined ? {} : { default: field.default }),
    ...(field.choices === undefined
      ? {}
      : { choices: field.choices.map((each) => (typeof each === 'string' ? { label: each, value: each } : each)) }),
    ...(format === undefined ? {} : { format }),
  }
}

function entryAction(action: PackageAction): EntryAction {
  const { title, description, defaultSubscription, fields = {}, performBatch, syncMode, dynamicFields = {} } = action
  return {
    title,
    description,
    trigger: defaultSubscription ?? null,
    fields: mapValues(fields, (field, name) => ({ ...entryField(field), ...dynamicOf(dynamicFields[name]) })),
    ...(syncMode === undefined
      ? {}
      : { syncModes: syncMode.choices.map(({ value }) => value), defaultSyncMode: syncMode.default }),
    ...(performBatch === undefined ? {} : { maxBatch: maxBatchOf(fields) }),
  }
}

const MAX_BATCH = 100

/** The size that the definition prefers, if it is smaller than ours. @see contracts/destination-catalog.md §9.3 [C44] */
function maxBatchOf(fields: Readonly<Record<string, PackageField>>): number {
  const preferred = Number((fields['batch_size'] ?? fields['max_batch_size'])?.default)
  return preferred >= 1 ? Math.min(MAX_BATCH, preferred) : MAX_BATCH
}

/** A function lists values; an object with one named `__keys__` lists names of members. */
function dynamicOf(dynamicField: unknown): Pick<EntryField, 'dynamic'> {
  if (typeof dynamicField === 'function') return { dynamic: 'values' }
  const keys = (dynamicField as { readonly __keys__?: unknown } | undefined)?.__keys__
  return typeof keys === 'function' ? { dynamic: 'keys' } : {}
}

function entryPreset({ name, partnerAction, subscribe }: PackagePreset & { subscribe: string }): EntryPreset {
  return { name, action: partnerAction, trigger: subscribe }
}

function mapValues<In, Out>(
  of: Readonly<Record<string, In>>,
  map: (value: In, name: string) => Out,
): Record<string, Out> {
  return Object.fromEntries(Object.entries(of).map(([name, value]) => [name, map(value, name)]))
}
