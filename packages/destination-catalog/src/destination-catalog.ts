import type { JsonObject } from '@millrace/protocol'
import type { BatchEnd } from './batch-outcome.ts'
import type {
  AskedField,
  CatalogRun,
  DestinationCatalogOptions,
  DryRun,
  FieldOptionsEnd,
  SendCaptured,
} from './catalog-run.ts'
import type { CatalogRuns } from './catalog-runs.ts'
import type { UnitOutcome } from './classify.ts'
import { type CatalogDefinition, catalogDefinition } from './definitions/catalog-definition.ts'
import { Entries, slugOf, typeNames } from './definitions/entries.ts'
import type { EntryActions } from './definitions/entry.ts'
import { settingsOf } from './definitions/settings.ts'
import { type MappingFault, mappingFaults } from './mappings/config-faults.ts'
import { type Mapping, mappingsOf } from './mappings/mappings.ts'
import { preparedEvent } from './mappings/prepared-event.ts'
import { matchesTrigger } from './mappings/triggers.ts'
import type { GuestRun, RunMapping } from './messages.ts'

/**
 * More than 100 destination types whose code comes from a community package and runs unmodified, in a worker without network.
 * Nothing is loaded before a type is asked for, and no thread starts before the first run.
 *
 * @see contracts/destination-catalog.md §5
 */
export class DestinationCatalog implements AsyncDisposable {
  /** Attempts of destination code to use what is closed, by entry and function. */
  readonly blocked = new Map<string, number>()
  readonly #entries = new Entries()
  readonly #definitions = new Map<string, CatalogDefinition>()
  readonly #options: DestinationCatalogOptions
  /** A configuration belongs to one type, and does not change. */
  readonly #byConfig = new WeakMap<JsonObject, readonly Mapping[]>()
  #runs: Promise<CatalogRuns> | undefined

  constructor(options: DestinationCatalogOptions) {
    this.#options = options
  }

  /** Names of the types, such as `CATALOG_LOOPS`; reads nothing. */
  names(): readonly string[] {
    return typeNames()
  }

  describe(name: string): CatalogDefinition | undefined {
    const slug = slugOf(name)
    if (slug === undefined) return undefined
    let definition = this.#definitions.get(slug)
    if (definition === undefined) {
      definition = catalogDefinition(this.#entries.get(slug))
      this.#definitions.set(slug, definition)
    }
    return definition
  }

  /** Actions and presets, for the editor of mappings. */
  actions(name: string): EntryActions {
    return this.#entries.actions(slugOf(name)!)
  }

  /** Faults of a configuration that the schema of its type accepts. */
  faultsIn(name: string, config: JsonObject): MappingFault[] {
    const slug = slugOf(name)!
    return mappingFaults(slug, config, this.#entries.actions(slug))
  }

  /** The mappings that want an event, in order. */
  matching(name: string, event: JsonObject, config: JsonObject): readonly Mapping[] {
    const slug = slugOf(name)!
    const prepared = preparedEvent(event)
    return this.#mappings(slug, config).filter(({ trigger }) => matchesTrigger(trigger, prepared))
  }

  /** What an event becomes if every answer is an empty 200. Never rejects. */
  async transform(name: string, event: JsonObject, run: CatalogRun): Promise<DryRun> {
    const slug = slugOf(name)!
    const mappings = this.matching(name, event, run.config)
    if (mappings.length === 0) return { kind: 'requests', requests: [], isPartial: false }
    const runs = await this.#loaded()
    return runs.transform(this.#guestRun('transform', slug, [event], mappings, run), run)
  }

  /**
   * Sends an event by one mapping. Never rejects.
   *
   * @param faults of earlier attempts that were faults of code or worker.
   */
  async deliver(
    name: string,
    event: JsonObject,
    mapping: Mapping,
    run: CatalogRun,
    send: SendCaptured,
    faults: number,
  ): Promise<UnitOutcome> {
    const slug = slugOf(name)!
    const runs = await this.#loaded()
    return runs.send(this.#guestRun('deliver', slug, [event], [mapping], run), run, send, faults)
  }

  /** Sends several events by one mapping, in one run. Never rejects. */
  async deliverBatch(
    name: string,
    events: readonly JsonObject[],
    mapping: Mapping,
    run: CatalogRun,
    send: SendCaptured,
  ): Promise<BatchEnd> {
    const slug = slugOf(name)!
    const runs = await this.#loaded()
    return runs.sendBatch(this.#guestRun('deliverBatch', slug, events, [mapping], run), run, send)
  }

  /** Asks the vendor for the choices of a field that has them. Never rejects. */
  async fieldOptions(
    name: string,
    { action, name: field, values, page }: AskedField,
    run: CatalogRun,
    send: SendCaptured,
  ): Promise<FieldOptionsEnd> {
    const slug = slugOf(name)!
    const { dynamic } = this.#entries.actions(slug).actions[action]!.fields[field]!
    const mapping = { index: 0, action, base: 'none', mapping: values } as const
    const runs = await this.#loaded()
    const prepared = {
      ...this.#guestRun('fieldOptions', slug, [], [mapping], run),
      field: { name: dynamic === 'keys' ? `${field}.__keys__` : field, ...(page === undefined ? {} : { page }) },
    }
    return runs.fieldOptions(prepared, run, send)
  }

  /** Maximum events of a run; 1 where no mapping takes several. */
  maxBatch(name: string, config: JsonObject): number {
    const mappings = this.#mappings(slugOf(name)!, config)
    return Math.max(1, ...mappings.map(({ maxBatch = 1 }) => maxBatch))
  }

  /** Tries the credentials. Undefined: the definition cannot. Never rejects. */
  async testConnection(name: string, run: CatalogRun, send: SendCaptured): Promise<UnitOutcome | undefined> {
    const slug = slugOf(name)!
    if (!this.#entries.get(slug).canTest) return undefined
    const runs = await this.#loaded()
    return runs.send(this.#guestRun('testConnection', slug, [], [], run), run, send, 0)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await (await this.#runs)?.[Symbol.asyncDispose]()
  }

  #mappings(slug: string, config: JsonObject): readonly Mapping[] {
    let mappings = this.#byConfig.get(config)
    if (mappings === undefined) {
      mappings = mappingsOf(config, this.#entries.actions(slug))
      this.#byConfig.set(config, mappings)
    }
    return mappings
  }

  #guestRun(
    kind: GuestRun['kind'],
    slug: string,
    events: readonly JsonObject[],
    mappings: readonly RunMapping[],
    { destinationId, config }: CatalogRun,
  ): Omit<GuestRun, 't' | 'id'> {
    const settings = settingsOf(this.#entries.get(slug), config)
    return { kind, slug, destinationId, settings, mappings, events: events.map(preparedEvent) }
  }

  #loaded(): Promise<CatalogRuns> {
    this.#runs ??= import('./catalog-runs.ts').then(
      ({ CatalogRuns }) => new CatalogRuns(this.#options, (slug, what) => this.#noteBlocked(slug, what)),
    )
    return this.#runs
  }

  #noteBlocked(slug: string, what: string): void {
    const key = `${slug} ${what}`
    const count = this.blocked.get(key) ?? 0
    this.blocked.set(key, count + 1)
    if (count === 0) this.#options.logger.warn({ slug, what }, 'code of the destination catalog tried a blocked API')
    this.#options.onBlocked?.(slug, what)
  }
}
