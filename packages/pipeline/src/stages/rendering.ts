import type { ShownRequest } from '@millrace/delivery'
import { type Masking, maskedRequestObject, type RequestObject } from '@millrace/destinations'
import {
  type EventPosition,
  formatPosition,
  type JsonObject,
  type JsonValue,
  type StoredEvent,
} from '@millrace/protocol'
import type { StepResult } from '@millrace/transformations'
import type { LiveUserCodeAccess } from './live-user-code.ts'
import type { Stages } from './stages.ts'
import type { MetadataSource } from './user-metadata.ts'

export interface RenderingOptions {
  readonly stages: Stages
  /** Of the configuration that the stages are of. */
  readonly revision: number
  readonly userCode: LiveUserCodeAccess
  readonly source: MetadataSource | undefined
  readonly sourceId: string
  /** As the stages get it. */
  readonly event: StoredEvent
  readonly place: EventPosition
}

/** Secrets masked. @see contracts/dashboard.md §4 N7 */
export interface Rendered {
  readonly steps: readonly {
    readonly transformationId: string
    readonly versionId: string
    /** Empty when the step dropped the event, or failed. */
    readonly output: readonly JsonValue[]
    readonly error: string | null
  }[]
  readonly requests: readonly JsonObject[]
}

interface Made {
  readonly events: readonly StoredEvent[]
  readonly secrets: readonly string[]
  readonly steps: readonly StepResult[]
}

/**
 * What a destination's code and its transformation make of an event again, to be shown. User code runs for it apart from live
 * traffic, once however much is asked, and reaches nobody.
 */
export class Rendering {
  readonly revision: number
  readonly #options: RenderingOptions
  #made: Promise<Made> | undefined

  constructor(options: RenderingOptions) {
    this.revision = options.revision
    this.#options = options
  }

  /** The first request; undefined where none is made. */
  async firstRequest(): Promise<ShownRequest | undefined> {
    const { stages, sourceId } = this.#options
    const { events, secrets } = await this.#make()
    const prepared = stages.prepare(events, sourceId, secrets)
    if ('error' in prepared || prepared.requests[0] === undefined) return undefined
    return prepared.show(prepared.requests[0])
  }

  /** Everything, step by step. */
  async all(): Promise<Rendered> {
    const { stages, sourceId } = this.#options
    const { events, secrets, steps } = await this.#make()
    const shownSteps = steps.map((step) => shownStep(step, stages.maskingOf(secrets)))
    const objects: { request: RequestObject; masking: Masking }[] = []
    for (const event of events) {
      const made = stages.destTransform(event, sourceId)
      // As live: if one of them fails, nothing is sent.
      if ('error' in made) return { steps: shownSteps, requests: [] }
      const masking = stages.maskingOf([...secrets, ...made.derivedSecrets])
      for (const request of made.objects) objects.push({ request, masking })
    }
    return {
      steps: shownSteps,
      requests: objects.map(({ request, masking }) => maskedRequestObject(request, masking)),
    }
  }

  #make(): Promise<Made> {
    this.#made ??= this.#runUserCode()
    return this.#made
  }

  async #runUserCode(): Promise<Made> {
    const { stages, userCode, source, event, place } = this.#options
    if (!stages.hasUserTransformation) return { events: [event], secrets: [], steps: [] }
    const { results, usedCredentials } = await stages.userTransform(userCode, {
      events: [{ event, metadata: stages.userMetadata(source), jobId: formatPosition(place) }],
      mode: 'test',
      isOffline: true,
      credentials: userCode.credentials(),
      captureLogs: false,
    })
    const [result] = results
    const events = result !== undefined && 'events' in result ? (result.events as readonly StoredEvent[]) : []
    return { events, secrets: usedCredentials, steps: result?.steps ?? [] }
  }
}

function shownStep({ transformationId, versionId, events = [], error }: StepResult, masking: Masking) {
  return {
    transformationId,
    versionId,
    output: events.map((event) => masking.value(event)),
    error: error === undefined ? null : masking.text(error),
  }
}
