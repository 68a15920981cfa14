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
  /** Revision of the configuration of these stages. */
  readonly revision: number
  readonly userCode: LiveUserCodeAccess
  readonly source: MetadataSource | undefined
  readonly sourceId: string
  /** The event as input to the stages. */
  readonly event: StoredEvent
  readonly place: EventPosition
}

/** Results with secrets masked. @see contracts/dashboard.md §4 N7 */
export interface Rendered {
  readonly steps: readonly {
    readonly transformationId: string
    readonly versionId: string
    /** Empty if the step dropped the event or failed. */
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
 * Runs the stages again for an event, to show its requests without sending them. User code runs apart from live traffic, at
 * most once, and without network.
 */
export class Rendering {
  readonly revision: number
  readonly #options: RenderingOptions
  #made: Promise<Made> | undefined

  constructor(options: RenderingOptions) {
    this.revision = options.revision
    this.#options = options
  }

  /** The first request; undefined if there is none. */
  async firstRequest(): Promise<ShownRequest | undefined> {
    const { stages, sourceId } = this.#options
    const { events, secrets } = await this.#make()
    if (stages.isRemote) return this.#firstRendered()
    const prepared = stages.prepare(events, sourceId, secrets)
    if ('error' in prepared || prepared.requests[0] === undefined) return undefined
    return prepared.show(prepared.requests[0])
  }

  async #firstRendered(): Promise<ShownRequest | undefined> {
    const [request] = (await this.all()).requests
    if (request === undefined) return undefined
    const { method, endpoint, headers } = request as unknown as ShownRequest
    return { method, endpoint, headers }
  }

  /** All steps and requests. */
  async all(): Promise<Rendered> {
    const { stages, sourceId } = this.#options
    const { events, secrets, steps } = await this.#make()
    const shownSteps = steps.map((step) => shownStep(step, stages.maskingOf(secrets)))
    const objects: { request: RequestObject; masking: Masking }[] = []
    for (const event of events) {
      const made = await stages.destTransform(event, sourceId)
      // As in live traffic: if one event fails, nothing is sent.
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
