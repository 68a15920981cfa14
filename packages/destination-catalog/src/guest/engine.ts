import type { JsonObject } from '@millrace/protocol'
import { usablePresets } from '../definitions/package-entry.ts'
import type { EventEnd, FieldOptions, GuestRun, MappingEnd, RunMapping } from '../messages.ts'
import { runBatch } from './batch-run.ts'
import { requestClient } from './client.ts'
import { type Core, type CoreAction, loadDefinition, type RunnableDefinition } from './core.ts'
import { fieldOptions } from './field-options.ts'
import { currentRun, type DefinitionRun } from './guest-run.ts'
import { jsonCopy } from './json-copy.ts'
import { thrownBy } from './thrown.ts'

const SYNC_MODE = '__segment_internal_sync_mode'
const MATCHING_KEY = '__segment_internal_matching_key'

/** @see contracts/destination-catalog.md §6 [C31] */
const FEATURES = { 'linkedin-audiences-canary-version': true, 'cm360-canary-api-version': true }
const nothing = () => {}
const STATS = {
  tags: [],
  statsClient: { observe: nothing, incr: nothing, set: nothing, histogram: nothing, _name: nothing, _tags: nothing },
}
const LOGGER = {
  debug: nothing,
  info: nothing,
  warn: nothing,
  error: nothing,
  crit: nothing,
  log: nothing,
  withTags: nothing,
}

/** Runs the definitions of the package. */
export class Engine {
  readonly #core: Core
  readonly #definitions = new Map<string, RunnableDefinition>()
  readonly #actions = new Map<string, CoreAction>()
  /** Values that a mapping is laid over. */
  readonly #bases = new Map<string, JsonObject>()

  constructor(core: Core) {
    this.#core = core
  }

  /** Never rejects. */
  async run(message: GuestRun, code: DefinitionRun): Promise<MappingEnd[]> {
    if (message.kind === 'testConnection') return [await this.#end(code, -1, () => this.#testConnection(message, code))]
    if (message.kind === 'deliverBatch') return [await this.#batchEnd(message, message.mappings[0]!, code)]
    if (message.kind === 'fieldOptions') return [await this.#fieldOptions(message, message.mappings[0]!, code)]
    const ends: MappingEnd[] = []
    for (const mapping of message.mappings) {
      ends.push(await this.#end(code, mapping.index, () => this.#execute(message, mapping, code)))
    }
    return ends
  }

  async #end(code: DefinitionRun, mapping: number, work: () => Promise<unknown>): Promise<MappingEnd> {
    code.requests = []
    try {
      await currentRun.run(code, work)
      if (code.bound !== undefined) throw code.bound
      return { mapping, requests: code.requests, thrown: undefined }
    } catch (error) {
      return { mapping, requests: code.requests, thrown: thrownBy(this.#core, code.bound ?? error) }
    }
  }

  async #batchEnd(message: GuestRun, mapping: RunMapping, code: DefinitionRun): Promise<MappingEnd> {
    let results: EventEnd[] | undefined
    const end = await this.#end(code, mapping.index, async () => {
      results = await runBatch(message.events, {
        core: this.#core,
        action: this.#actionOfRun(message, mapping, code),
        bundleOf: (events) => this.#bundle(message, mapping, jsonCopy([...events]), events[0]!),
        thrownBy: (error) => thrownBy(this.#core, error),
      })
    })
    return results === undefined || end.thrown !== undefined ? end : { ...end, results }
  }

  async #fieldOptions(message: GuestRun, mapping: RunMapping, code: DefinitionRun): Promise<MappingEnd> {
    const { name, page } = message.field!
    let options: FieldOptions | undefined
    const end = await this.#end(code, mapping.index, async () => {
      const data = { ...this.#bundle(message, mapping, {}, {}), payload: jsonCopy(mapping.mapping), page }
      options = fieldOptions(await this.#actionOfRun(message, mapping, code).executeDynamicField(name, data))
    })
    return options === undefined ? end : { ...end, options }
  }

  async #execute(message: GuestRun, mapping: RunMapping, code: DefinitionRun): Promise<void> {
    const event = jsonCopy(message.events[0]!)
    await this.#actionOfRun(message, mapping, code).execute(this.#bundle(message, mapping, event, event))
  }

  #actionOfRun({ slug }: GuestRun, mapping: RunMapping, code: DefinitionRun): CoreAction {
    const action = Object.create(this.#action(slug, mapping.action)) as CoreAction
    action.createRequestClient = (data) => requestClient(this.#core, code, action.extendRequest?.(data) ?? {})
    return action
  }

  /**
   * What an action is run with. Destination code changes mapping and settings in place.
   *
   * @param data the event, or those of a batch.
   * @param first names the audience.
   */
  #bundle({ slug, destinationId, settings }: GuestRun, mapping: RunMapping, data: unknown, first: JsonObject) {
    const { personas } = (first['context'] ?? {}) as { personas?: { audience_settings?: unknown } }
    return {
      mapping: jsonCopy(this.#mapping(slug, mapping)),
      data,
      settings: jsonCopy(settings),
      auth: undefined,
      features: { ...FEATURES },
      statsContext: { ...STATS, tags: [] },
      logger: LOGGER,
      personasContext: personas,
      audienceSettings: personas?.audience_settings ?? {},
      // Some definitions cache by it.
      subscriptionMetadata: {
        actionConfigId: `${destinationId}:${mapping.index}`,
        destinationConfigId: destinationId,
        actionId: mapping.action,
        sourceId: '',
      },
    }
  }

  async #testConnection({ slug, settings }: GuestRun, code: DefinitionRun): Promise<void> {
    const { authentication, extendRequest } = this.#definition(slug)
    const data = { settings: jsonCopy(settings), auth: undefined }
    const client = requestClient(this.#core, code, extendRequest?.({ ...data, payload: undefined }) ?? {})
    await authentication?.testAuthentication?.(client, data)
  }

  #definition(slug: string): RunnableDefinition {
    let definition = this.#definitions.get(slug)
    if (definition === undefined) {
      definition = loadDefinition(slug)
      this.#definitions.set(slug, definition)
    }
    return definition
  }

  /** Validators are kept under the name and the title, and a name with a blank is no valid key of them. */
  #action(slug: string, name: string): CoreAction {
    const key = `d-${slug}-${name}`
    let action = this.#actions.get(key)
    if (action === undefined) {
      const definition = this.#definition(slug)
      const actions = { [name]: definition.actions[name] }
      action = new this.#core.Destination({ ...definition, name: key, actions }).actions[name]!
      this.#actions.set(key, action)
    }
    return action
  }

  #mapping(slug: string, { action, base, preset, mapping, syncMode, matchingKey }: RunMapping): JsonObject {
    const laid: JsonObject = { ...(base === 'none' ? {} : this.#base(slug, action, preset)) }
    for (const [field, value] of Object.entries(mapping)) {
      if (value === null) delete laid[field]
      else laid[field] = value
    }
    const mode = syncMode ?? laid[SYNC_MODE] ?? this.#definition(slug).actions[action]!.syncMode?.default
    if (mode !== undefined) laid[SYNC_MODE] = mode
    if (matchingKey !== undefined) laid[MATCHING_KEY] = matchingKey
    return laid
  }

  #base(slug: string, action: string, preset: string | undefined): JsonObject {
    const key = `${slug} ${action} ${preset ?? ''}`
    let base = this.#bases.get(key)
    if (base === undefined) {
      const definition = this.#definition(slug)
      const found = usablePresets(definition).find(
        ({ name, partnerAction }) => name === preset && partnerAction === action,
      )
      const fields = definition.actions[action]?.fields ?? {}
      base = { ...(preset === undefined ? this.#core.defaultValues(fields) : found?.mapping) }
      this.#bases.set(key, base)
    }
    return base
  }
}
