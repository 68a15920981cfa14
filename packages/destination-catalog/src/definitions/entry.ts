import type { JsonValue } from '@millrace/protocol'

/** Version of the package that the entries are generated from. */
export const PACKAGE_VERSION = '3.497.0'

/** A settings field or an action field, as the package describes it. */
export interface EntryField {
  readonly label: string
  readonly help: string
  readonly type: string
  readonly multiple?: true
  readonly required?: boolean | 'conditional'
  readonly default?: JsonValue
  readonly choices?: readonly { readonly label: string; readonly value: string | number | boolean }[]
  readonly format?: string
  /** The vendor's API lists choices: of the value, or of the names of its members. */
  readonly dynamic?: 'values' | 'keys'
}

/** A listed entry without its actions: enough for the list and for a configuration form. */
export interface Entry {
  readonly slug: string
  readonly originalName: string
  readonly description: string
  /** In the order of the package. */
  readonly fields: Readonly<Record<string, EntryField>>
  /** Names of the actions, in the order of the package. */
  readonly actions: readonly string[]
  /** The definition can test credentials. */
  readonly canTest: boolean
  readonly isForAudiences: boolean
}

/** An action: one way to send events. */
export interface EntryAction {
  readonly title: string
  readonly description: string
  /** Trigger of a mapping without one; null: the mapping must name it. */
  readonly trigger: string | null
  readonly fields: Readonly<Record<string, EntryField>>
  readonly syncModes?: readonly string[]
  readonly defaultSyncMode?: string
  /** Maximum events of one run; absent where the action takes one. */
  readonly maxBatch?: number
}

/** A mapping that the package prepares. All of them apply when the configuration has no mappings. */
export interface EntryPreset {
  /** Unique in its entry. */
  readonly name: string
  readonly action: string
  readonly trigger: string
}

export interface EntryActions {
  readonly actions: Readonly<Record<string, EntryAction>>
  readonly presets: readonly EntryPreset[]
}

/** A row of `entries.json` and the content of `actions/<slug>.json`, as the generator writes them. */
export interface GeneratedEntry {
  readonly entry: Entry
  readonly details: EntryActions
}
