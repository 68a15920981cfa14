import type { DeadLetterRow, LaneEvent, LaneSettings, Prepared, ShownRequest, Transform } from '@millrace/delivery'
import type { DestinationModule } from '@millrace/destinations'
import type { EventPosition, StoredEvent } from '@millrace/protocol'
import type { ConfiguredDestination } from '../following/configuration.ts'
import { filterReason } from '../stages/filters.ts'
import { LiveUserCode, type LiveUserCodeOptions } from '../stages/live-user-code.ts'
import { Rendering } from '../stages/rendering.ts'
import type { Screening } from '../stages/screening.ts'
import { Stages } from '../stages/stages.ts'
import type { DeliveryDeps } from './delivery-deps.ts'

/** The stages of a destination's events under its current configuration: filters, user code, and the code of its type. */
export class CurrentStages {
  readonly module: DestinationModule
  readonly #deps: DeliveryDeps
  #destination: ConfiguredDestination
  #screening: Screening | undefined
  #stages: Stages
  #revision: number

  /** @param configurationRevision of the configuration that contains the destination. */
  constructor(destination: ConfiguredDestination, configurationRevision: number, deps: DeliveryDeps) {
    this.#deps = deps
    this.module = deps.moduleOf(destination.type)
    this.#destination = destination
    this.#stages = this.#newStages()
    this.#revision = effectiveRevision(destination, configurationRevision)
  }

  get destination(): ConfiguredDestination {
    return this.#destination
  }

  /** Revision of recorded outcomes: the last change of the destination or of its user code. */
  get revision(): number {
    return this.#revision
  }

  /** Versions of its user code, in execution order. */
  get versionIds(): string[] {
    return this.#destination.transformations.map(({ versionId }) => versionId)
  }

  /** @returns whether the destination or its user code changed. */
  configure(
    destination: ConfiguredDestination,
    configurationRevision: number,
    screening: Screening | undefined,
  ): boolean {
    const before = this.#destination
    this.#destination = destination
    this.#screening = screening
    if (destination.revision === before.revision && destination.transformations === before.transformations) return false
    this.#stages = this.#newStages()
    this.#revision = effectiveRevision(destination, configurationRevision)
    return true
  }

  laneSettings(): LaneSettings {
    const { batchEvents } = this.#stages
    return { ...this.#destination.delivery, revision: this.#revision, batchEvents }
  }

  /** Why the current filters exclude an event; undefined if they do not. */
  filter(event: StoredEvent, sourceId: string) {
    const { id, name, config } = this.#destination
    const filtered = { id, name, config, module: this.module }
    const reason = filterReason(event, filtered, this.#deps.sourceOf(sourceId)?.class ?? '')
    return reason ?? this.#screening?.reason(event, sourceId)
  }

  /** User code; undefined if the destination has none. */
  transform(): Transform | undefined {
    if (this.#destination.transformations.length === 0) return undefined
    const { userCode, clock, sourceOf, metrics, logger } = this.#deps
    const destination = this.#destination
    const onError = (transformationId: string) => metrics.transformationError(transformationId)
    const onFlow: LiveUserCodeOptions['onFlow'] = (...flow) => metrics.flow(...flow)
    const options = { destination, stages: this.#stages, userCode, clock, sourceOf, onError, onFlow, logger }
    return new LiveUserCode(options).transform
  }

  /** All requests of an event, or the first failure. */
  prepare({ payload, transformed, sourceId, partition, stream, offset, index, replayed }: LaneEvent): Prepared {
    const isSplit = transformed?.kind === 'events'
    const events = isSplit ? transformed.events : [payload!]
    const secrets = isSplit ? transformed.secrets : undefined
    const refused = this.#stages.refusal(events)
    if (refused !== undefined) return { stage: 'dest_transformation', ...refused }
    const place = this.#stages.isRemote
      ? `${partition} ${stream} ${offset} ${index} ${replayed?.replayId ?? ''}`
      : undefined
    return this.#stages.prepare(events, sourceId, secrets, place)
  }

  /** A text without the secrets of the configuration. */
  mask(text: string): string {
    return this.#stages.maskingOf([]).text(text)
  }

  /** The result of an event. */
  rendering(event: StoredEvent, sourceId: string, place: EventPosition): Rendering {
    const { userCode, sourceOf } = this.#deps
    const source = sourceOf(sourceId)
    return new Rendering({ stages: this.#stages, revision: this.#revision, userCode, source, sourceId, event, place })
  }

  /** The first request of a dead letter; undefined if the configuration has changed since. */
  async renderedRequest(letter: DeadLetterRow): Promise<ShownRequest | undefined> {
    if (letter.revision !== this.#revision) return undefined
    return this.rendering(JSON.parse(letter.event), letter.sourceId, letter).firstRequest()
  }

  #newStages(): Stages {
    const { userAgent, clock } = this.#deps
    return new Stages(
      { ...this.#destination, module: this.module },
      { userAgent, isUserAgentAdded: false, nowSeconds: () => Math.floor(clock.now() / 1000) },
    )
  }
}

/**
 * A new version of user code is no change of the destination. A destination with user code therefore uses the revision
 * of the whole configuration: each revision of a destination then always means the same versions.
 */
function effectiveRevision(
  { revision, transformations }: ConfiguredDestination,
  configurationRevision: number,
): number {
  return transformations.length === 0 ? revision : configurationRevision
}
