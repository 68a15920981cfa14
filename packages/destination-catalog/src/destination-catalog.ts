import { createRequire } from 'node:module'
import path from 'node:path'
import type { JsonObject } from '@millrace/protocol'
import { ALLOWED } from './allow-list.ts'
import { type UnitOutcome, unitOutcome } from './classify.ts'
import { type CatalogDefinition, catalogDefinition } from './definitions/catalog-definition.ts'
import { Entries, slugOf, typeNames } from './definitions/entries.ts'
import type { EntryActions } from './definitions/entry.ts'
import { settingsOf } from './definitions/settings.ts'
import { GuestPool, type GuestPoolOptions } from './host/guest-pool.ts'
import type { HostAnswer } from './host/guest-runs.ts'
import { type MappingFault, mappingFaults } from './mappings/config-faults.ts'
import { type Mapping, mappingsOf } from './mappings/mappings.ts'
import { preparedEvent } from './mappings/prepared-event.ts'
import { matchesTrigger } from './mappings/triggers.ts'
import type { CapturedRequest, GuestRun, MappingEnd } from './messages.ts'
import { type CapturedObject, capturedObject } from './requests/captured-object.ts'
import { type CatalogRequest, type RewriteOptions, rewritten } from './requests/rewrites.ts'

/** @see contracts/destination-catalog.md §4.1 [C17] */
const DRY_RUN_MS = 1_000
const TEST_MS = 30_000
const DELIVERY_MS = 60_000

export interface DestinationCatalogOptions
  extends Omit<GuestPoolOptions, 'packagesFolder' | 'onBlocked' | 'workers' | 'memoryMb'> {
  /** Worker threads, 1 to 8. Default 1. */
  readonly workers?: number
  /** Memory of each, in MB. Default 256. */
  readonly memoryMb?: number
  readonly onBlocked?: (slug: string, what: string) => void
}

/** Whose events are sent, and how its requests name us. */
export interface CatalogRun extends Pick<RewriteOptions, 'userAgent' | 'isUserAgentAdded'> {
  readonly destinationId: string
  readonly config: JsonObject
}

/** What an event becomes. */
export type DryRun =
  | {
      readonly kind: 'requests'
      readonly requests: readonly { readonly object: CapturedObject; readonly request: CatalogRequest }[]
      /** Further requests depend on answers. */
      readonly isPartial: boolean
    }
  | { readonly kind: 'failed'; readonly text: string }

/** Sends a request. What it answers is given to the destination's code. */
export type SendCaptured = (request: CatalogRequest) => Promise<HostAnswer>

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
  #pool: GuestPool | undefined

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
    return mappingsOf(config, this.#entries.actions(slug)).filter(({ trigger }) => matchesTrigger(trigger, prepared))
  }

  /** What an event becomes if every answer is an empty 200. Never rejects. */
  async transform(name: string, event: JsonObject, run: CatalogRun): Promise<DryRun> {
    const slug = slugOf(name)!
    const mappings = this.matching(name, event, run.config)
    if (mappings.length === 0) return { kind: 'requests', requests: [], isPartial: false }
    const end = await this.#startedPool().run({
      run: this.#guestRun('transform', slug, event, mappings, run),
      deadlineMs: DRY_RUN_MS,
      send: () => Promise.resolve({ noAnswer: 'a dry run sends nothing' }),
      onLate: () => {},
    })
    return end.kind === 'ends' ? dryRun(end.ends, slug, run) : { kind: 'failed', text: unitOutcome(end, NO_FACTS).text }
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
    return this.#sending(this.#guestRun('deliver', slug, event, [mapping], run), run, send, DELIVERY_MS, faults)
  }

  /** Tries the credentials. Undefined: the definition cannot. Never rejects. */
  async testConnection(name: string, run: CatalogRun, send: SendCaptured): Promise<UnitOutcome | undefined> {
    const slug = slugOf(name)!
    if (!this.#entries.get(slug).canTest) return undefined
    return this.#sending(this.#guestRun('testConnection', slug, {}, [], run), run, send, TEST_MS, 0)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#pool?.[Symbol.asyncDispose]()
  }

  async #sending(
    guestRun: Omit<GuestRun, 't' | 'id'>,
    run: CatalogRun,
    send: SendCaptured,
    deadlineMs: number,
    faults: number,
  ): Promise<UnitOutcome> {
    let lastStatus: number | undefined
    let refused: string | undefined
    let isLate = false
    const sendOne = async (captured: CapturedRequest): Promise<HostAnswer> => {
      const judged = rewritten(captured, { slug: guestRun.slug, ...run })
      if ('refused' in judged) {
        refused = judged.refused
        return { noAnswer: judged.refused }
      }
      if (isLate) return { noAnswer: 'Timed out' }
      const answer = await send(judged.request)
      if ('status' in answer) lastStatus = answer.status
      return answer
    }
    const onLate = () => {
      isLate = true
    }
    const end = await this.#startedPool().run({ run: guestRun, deadlineMs, send: sendOne, onLate })
    return unitOutcome(end, { lastStatus, refused, faults })
  }

  #guestRun(
    kind: GuestRun['kind'],
    slug: string,
    event: JsonObject,
    mappings: readonly Mapping[],
    { destinationId, config }: CatalogRun,
  ): Omit<GuestRun, 't' | 'id'> {
    const settings = settingsOf(this.#entries.get(slug), config)
    return { kind, slug, destinationId, settings, mappings, event: preparedEvent(event) }
  }

  #startedPool(): GuestPool {
    this.#pool ??= new GuestPool({
      workers: 1,
      memoryMb: 256,
      ...this.#options,
      packagesFolder: packagesFolder(),
      onBlocked: (slug, what) => this.#noteBlocked(slug, what),
    })
    return this.#pool
  }

  #noteBlocked(slug: string, what: string): void {
    const key = `${slug} ${what}`
    const count = this.blocked.get(key) ?? 0
    this.blocked.set(key, count + 1)
    if (count === 0) this.#options.logger.warn({ slug, what }, 'a catalog destination used what is closed to it')
    this.#options.onBlocked?.(slug, what)
  }
}

const NO_FACTS = { lastStatus: undefined, refused: undefined, faults: 0 }

function dryRun(ends: readonly MappingEnd[], slug: string, run: CatalogRun): DryRun {
  const requests: { object: CapturedObject; request: CatalogRequest }[] = []
  let isPartial = false
  for (const end of ends) {
    const { thrown } = end
    if (thrown !== undefined && (end.requests.length === 0 || thrown.kind === 'bound')) {
      return { kind: 'failed', text: thrown.text }
    }
    // The code did not like the empty answer.
    if (thrown !== undefined || (ALLOWED[slug]!.multiStep === true && end.requests.length > 0)) isPartial = true
    for (const [i, captured] of end.requests.entries()) {
      const judged = rewritten(captured, { slug, ...run })
      if ('refused' in judged) {
        // A later request may lack what only a true answer has.
        if (i > 0) break
        return { kind: 'failed', text: judged.refused }
      }
      requests.push({ object: capturedObject(judged.request), request: judged.request })
    }
  }
  return { kind: 'requests', requests, isPartial }
}

/** The folder of all installed packages. */
function packagesFolder(): string {
  const manifest = createRequire(import.meta.url).resolve('@segment/action-destinations/package.json')
  return path.resolve(path.dirname(manifest), '../..')
}
