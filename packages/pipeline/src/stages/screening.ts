import {
  CompiledRules,
  type ConnectionRules,
  consentAnswer,
  type RuleReason,
  type StoredEvent,
} from '@millrace/protocol'
import type { ConfiguredConnection, ConfiguredDestination, ConfiguredSource } from '../following/configuration.ts'

export type ScreeningReason = RuleReason | 'consent denied' | 'consent missing'

/** The parts of the configuration that decide which events of a source go to a destination. */
export interface Screened {
  readonly destination: Pick<ConfiguredDestination, 'consent'>
  /** Of the destination. */
  readonly connections: readonly Pick<ConfiguredConnection, 'sourceId' | 'rules'>[]
  readonly sources: ReadonlyMap<string, Pick<ConfiguredSource, 'config'>>
}

/**
 * What one destination asks of events beside its own filters: the consent that it needs, and the rules of its connections.
 *
 * @see contracts/delivery.md §5 [D741]; docs/filtering-events.md
 */
export class Screening {
  readonly #screened: Screened
  readonly #rules: ReadonlyMap<string, CompiledRules>

  /** @returns undefined where nothing is asked, so that an event costs one look. */
  static of(screened: Screened): Screening | undefined {
    const isNeeded = screened.destination.consent !== undefined || screened.connections.some(({ rules }) => rules)
    return isNeeded ? new Screening(screened) : undefined
  }

  private constructor(screened: Screened) {
    this.#screened = screened
    this.#rules = new Map(
      screened.connections.flatMap(({ sourceId, rules }) => (rules === undefined ? [] : [[sourceId, compiled(rules)]])),
    )
  }

  /** Why an event is left out; undefined if it goes. */
  reason(event: StoredEvent, sourceId: string): ScreeningReason | undefined {
    return this.#consentReason(event, sourceId) ?? this.#rules.get(sourceId)?.reason(event)
  }

  #consentReason(event: StoredEvent, sourceId: string): ScreeningReason | undefined {
    const { destination, sources } = this.#screened
    if (destination.consent === undefined) return undefined
    switch (consentAnswer(event, destination.consent)) {
      case 'granted':
        return undefined
      case 'denied':
        return 'consent denied'
      case 'missing':
        return sources.get(sourceId)?.config?.withoutConsent === 'hold_back' ? 'consent missing' : undefined
    }
  }
}

/** Each change of the configuration makes a screening; rules that stayed are compiled once. */
const known = new WeakMap<ConnectionRules, CompiledRules>()

function compiled(rules: ConnectionRules): CompiledRules {
  let made = known.get(rules)
  if (made === undefined) {
    made = new CompiledRules(rules)
    known.set(rules, made)
  }
  return made
}
