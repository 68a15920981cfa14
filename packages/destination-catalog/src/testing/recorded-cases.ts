import { isJsonObject, type JsonObject, type JsonValue } from '@millrace/protocol'
import { ALLOWED } from '../allow-list.ts'
import type { DryRun } from '../catalog-run.ts'
import { ADDRESS_FIELDS } from '../definitions/address-fields.ts'
import { typeNameOf } from '../definitions/entries.ts'
import type { EntryAction, EntryField } from '../definitions/entry.ts'
import type { DestinationCatalog } from '../destination-catalog.ts'
import { CASE_DETAILS } from './case-details.ts'
import { CASE_EVENTS } from './case-events.ts'
import { TEST_RUN } from './test-catalog.ts'

/** An event and a configuration, and the requests that they became when the case was recorded. */
export interface RecordedCase {
  readonly title: string
  /** A name in CASE_EVENTS. */
  readonly event: string
  readonly config: JsonObject
  /** `<any>` stands for what changes from run to run. */
  readonly requests: JsonValue
}

const ANY = '<any>'

/**
 * The cases of an entry: its default mappings, else one mapping with every required field; then one for each setting that has a
 * default, with another value. So every setting of the form is in a case.
 */
export async function recordedCases(catalog: DestinationCatalog, slug: string): Promise<RecordedCase[]> {
  const cases = await mappedCases(catalog, slug)
  return [...cases, ...(await casesOfSettings(catalog, slug, cases))]
}

async function mappedCases(catalog: DestinationCatalog, slug: string): Promise<RecordedCase[]> {
  const details = CASE_DETAILS[slug] ?? {}
  const config = { ...settingsFor(catalog, slug), ...details.settings }
  if (ALLOWED[slug]!.needsMapping !== true) {
    return casesWith(catalog, slug, config, 'default mappings', Object.keys(CASE_EVENTS))
  }
  for (const [name, action] of Object.entries(catalog.actions(typeNameOf(slug)).actions)) {
    if (details.action !== undefined && details.action !== name) continue
    for (const event of details.event === undefined ? ['order', 'audience', 'identify'] : [details.event]) {
      const mapping = mappingFor(slug, name, action, event, details.mapping)
      const mapped = { ...config, subscriptions: [mapping] }
      const cases = await casesWith(catalog, slug, mapped, `mapping of ${name}`, [event])
      if (cases.length > 0) return cases
    }
  }
  return []
}

/** Of the events with requests, the first whose requests the setting changes; else the first one. */
async function casesOfSettings(
  catalog: DestinationCatalog,
  slug: string,
  cases: readonly RecordedCase[],
): Promise<RecordedCase[]> {
  const changed: RecordedCase[] = []
  for (const [name, value] of Object.entries(otherSettings(catalog, slug))) {
    let kept: RecordedCase | undefined
    for (const { event, config, requests: before } of cases) {
      const requests = (await requestsOf(catalog, slug, event, { ...config, [name]: value })) as JsonValue | undefined
      if (requests === undefined) continue
      const made = { title: `${event}, another ${name}`, event, config: { ...config, [name]: value }, requests }
      kept ??= made
      if (isAsRecorded(requests, before)) continue
      kept = made
      break
    }
    if (kept !== undefined) changed.push(kept)
  }
  return changed
}

/** Values other than the defaults, for the settings that have one. */
function otherSettings(catalog: DestinationCatalog, slug: string): JsonObject {
  const { configSchema, uiConfig } = catalog.describe(typeNameOf(slug))!
  const settings: JsonObject = {}
  for (const [name, schema] of Object.entries(configSchema['properties'] as Record<string, JsonObject>)) {
    const { default: usual, enum: choices } = schema
    if (usual === undefined) continue
    const field = (uiConfig['fields'] as { key: string; format?: string }[]).find(({ key }) => key === name)
    if (typeof usual === 'boolean') settings[name] = !usual
    else if (Array.isArray(choices)) settings[name] = choices.find((choice) => choice !== usual)!
    else settings[name] = settingFor(name, schema, field?.format)
  }
  return { ...settings, ...CASE_DETAILS[slug]?.others }
}

async function casesWith(
  catalog: DestinationCatalog,
  slug: string,
  config: JsonObject,
  what: string,
  events: readonly string[],
): Promise<RecordedCase[]> {
  const cases: RecordedCase[] = []
  for (const event of events) {
    const requests = await requestsOf(catalog, slug, event, config)
    if (requests === undefined) continue
    cases.push({ title: `${event}, ${what}`, event, config, requests: requests as JsonValue })
  }
  return cases
}

/** The request objects of a case; undefined if there are none. */
export async function requestsOf(
  catalog: DestinationCatalog,
  slug: string,
  event: string,
  config: JsonObject,
): Promise<object[] | undefined> {
  const made: DryRun = await catalog.transform(typeNameOf(slug), CASE_EVENTS[event]!, { ...TEST_RUN, config })
  return made.kind === 'failed' || made.requests.length === 0 ? undefined : made.requests.map(({ object }) => object)
}

/** The parts in which two recordings are equal; the others become `<any>`. */
export function stable(first: JsonValue, second: JsonValue): JsonValue {
  if (Array.isArray(first) && Array.isArray(second) && first.length === second.length) {
    return first.map((each, i) => stable(each, second[i]!))
  }
  if (isJsonObject(first) && isJsonObject(second)) {
    return Object.fromEntries(Object.entries(first).map(([name, value]) => [name, stable(value, second[name] ?? ANY)]))
  }
  if (typeof first === 'string' && typeof second === 'string' && first.startsWith('{')) return stableText(first, second)
  return first === second ? first : ANY
}

/** Bodies that hold JSON as text. */
function stableText(first: string, second: string): JsonValue {
  return first === second ? first : ANY
}

/** Whether requests are those of a case. */
export function isAsRecorded(made: JsonValue, recorded: JsonValue): boolean {
  if (recorded === ANY) return true
  if (Array.isArray(recorded)) {
    return (
      Array.isArray(made) &&
      made.length === recorded.length &&
      recorded.every((each, i) => isAsRecorded(made[i]!, each))
    )
  }
  if (isJsonObject(recorded)) {
    const names = Object.keys(recorded)
    return (
      isJsonObject(made) &&
      Object.keys(made).length === names.length &&
      names.every((name) => isAsRecorded(made[name]!, recorded[name]!))
    )
  }
  return made === recorded
}

function settingsFor(catalog: DestinationCatalog, slug: string): JsonObject {
  const { configSchema, uiConfig } = catalog.describe(typeNameOf(slug))!
  const config: JsonObject = {}
  for (const [name, schema] of Object.entries(configSchema['properties'] as Record<string, JsonObject>)) {
    if (name === 'subscriptions' || name === 'vendorLabels' || schema['default'] !== undefined) continue
    const field = (uiConfig['fields'] as { key: string; format?: string }[]).find(({ key }) => key === name)
    config[name] = settingFor(name, schema, field?.format)
  }
  return config
}

function settingFor(name: string, schema: JsonObject, format: string | undefined): JsonValue {
  if (Array.isArray(schema['enum'])) return schema['enum'][0]!
  if (schema['type'] === 'boolean') return true
  if (schema['type'] === 'number') return 1
  if (schema['type'] === 'array') return []
  if (format === 'uri' || /url|uri|endpoint|host/i.test(name)) return 'https://vendor.example'
  return `value-of-${name}`
}

function mappingFor(slug: string, name: string, action: EntryAction, event: string, more: JsonObject = {}): JsonObject {
  const mapping: JsonObject = {}
  for (const [field, described] of Object.entries(action.fields)) {
    const isAddress = ADDRESS_FIELDS[slug]?.[name] === field
    if (isAddress)
      mapping[field] = slug === 'slack' ? 'https://hooks.slack.com/services/T0/B0/x' : 'https://vendor.example/in'
    else if (described.required !== undefined && described.default === undefined)
      mapping[field] = sample(field, described)
  }
  const type = CASE_EVENTS[event]!['type'] as string
  return { action: name, trigger: `type = "${type}"`, base: 'default', mapping: { ...mapping, ...more } }
}

function sample(name: string, { type, choices, multiple }: EntryField): JsonValue {
  const one = sampleOf(name, type, choices?.[0]?.value)
  return multiple === true ? [one] : one
}

function sampleOf(name: string, type: string, choice: JsonValue | undefined): JsonValue {
  if (choice !== undefined) return choice
  if (type === 'number' || type === 'integer') return 1
  if (type === 'boolean') return true
  if (type === 'datetime') return '2026-11-20T09:30:00.123Z'
  if (type === 'object') return { email: 'ada@cinema.example' }
  return /mail/i.test(name)
    ? 'ada@cinema.example'
    : /url|uri/i.test(name)
      ? 'https://vendor.example/in'
      : `value-of-${name}`
}
