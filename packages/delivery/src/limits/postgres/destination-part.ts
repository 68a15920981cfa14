import type { OutageState } from '../../failure/outage.ts'
import type { ThrottleRule } from '../../pace/throttle.ts'
import type { LimitSettings } from '../destination-limits.ts'
import type { NotedAttempt, PartOfLimits, ProcessPart } from '../process-part.ts'
import { type OutageWrite, type StoredLimit, TOKEN_MS, type TokenAsk } from './limit-tables.ts'

/** A process asks for at most this part of a throttle at once, so that tokens that it does not use are few. */
const ASKS_PER_WINDOW = 10
const SHORTEST_WAIT_MS = 20
/** A probe that no lane has taken by then is another process's. */
const PROBE_UNUSED_MS = 400

interface Tokens {
  count: number
  /** By the monotonic clock. */
  readonly until: number
}

/** What a turn does for a destination. */
export interface DestinationTurn {
  readonly tokens: TokenAsk | undefined
  readonly writes: readonly OutageWrite[]
}

/** The part of one process of a destination's limits: what it holds, what it wants, and what it has to tell. */
export class DestinationPart implements ProcessPart {
  readonly #destination: string
  readonly #limits: PartOfLimits
  readonly #now: () => number
  readonly #kick: () => void
  #throttle: ThrottleRule | null = null
  #tokens: Tokens[] = []
  #wantsTokens = false
  /** Before this time all tokens are with others. */
  #askAgainAt = Number.NEGATIVE_INFINITY
  /** Of the last ask: it grows while all that comes is used. */
  #batch = 1
  #owners: number
  #state: OutageState = 'ok'
  #revision = Number.NEGATIVE_INFINITY
  #probe: { readonly grantedAt: number; readonly until: number } | undefined
  #wantsProbe = false
  #isProbing = false
  #writes: OutageWrite[] = []
  #version: number | undefined

  /** @param owners processes that deliver to the destination, this one included, as far as is known. */
  constructor(of: {
    destination: string
    limits: PartOfLimits
    owners: number
    now: () => number
    kick: () => void
  }) {
    this.#destination = of.destination
    this.#limits = of.limits
    this.#owners = of.owners
    this.#now = of.now
    this.#kick = of.kick
  }

  configured({ throttle, revision }: LimitSettings): void {
    if (revision > this.#revision && this.#state === 'unauthorised') this.#tell({ kind: 'configured', revision })
    this.#revision = revision
    const before = this.#throttle
    if (before?.limit === throttle?.limit && before?.windowSeconds === throttle?.windowSeconds) return
    this.#throttle = throttle
    this.#tokens = []
    this.#askAgainAt = Number.NEGATIVE_INFINITY
    this.#batch = 1
  }

  concurrencyOf(concurrency: number): number {
    return Math.max(1, Math.floor(concurrency / this.#owners))
  }

  tokenWaitMs(now: number): number {
    this.#dropExpired(now)
    if (this.#tokens.length > 0) return 0
    this.#wantsTokens = true
    if (now < this.#askAgainAt) return this.#askAgainAt - now
    this.#kick()
    // The lane is woken when tokens come.
    return TOKEN_MS
  }

  takeToken(): void {
    const [first] = this.#tokens
    if (first === undefined || --first.count > 0) return
    this.#tokens.shift()
    if (this.#throttle !== null) this.#batch = Math.min(2 * this.#batch, mostAsked(this.#throttle))
  }

  mayProbe(now: number): boolean {
    if (this.#probe !== undefined && now < this.#probe.until) return true
    if (this.#wantsProbe) return false
    this.#wantsProbe = true
    this.#kick()
    return false
  }

  probeTaken(): void {
    this.#isProbing = true
  }

  probeEnded(): void {
    this.#endProbe({ kind: 'probe ended' })
  }

  noted({ sign, wasProbe, isChanged, outage, now }: NotedAttempt): void {
    const restMs = Math.max(0, Math.round(outage.nextProbe - now))
    this.#state = outage.state
    if (isChanged && outage.state !== 'ok') this.#tell({ kind: 'begin', state: outage.state, restMs })
    else if (isChanged) this.#tell({ kind: 'end' })
    if (!wasProbe) return
    if (isChanged) this.#endProbe(undefined)
    else this.#endProbe(sign === undefined ? { kind: 'probe ended' } : { kind: 'probe failed', restMs })
  }

  /** @param owners processes that deliver to the destination, this one included. */
  setOwners(owners: number): void {
    if (owners === this.#owners) return
    this.#owners = owners
    this.#limits.shareChanged()
  }

  /** What the next turn has to do; undefined: nothing but to read. */
  turn(): DestinationTurn | undefined {
    const now = this.#now()
    this.#dropExpired(now)
    if (this.#probe !== undefined && !this.#isProbing && now - this.#probe.grantedAt >= PROBE_UNUSED_MS) {
      this.#endProbe({ kind: 'probe ended' })
    }
    const isAsking = this.#wantsTokens && this.#tokens.length === 0 && now >= this.#askAgainAt
    const tokens = isAsking && this.#throttle !== null ? this.#ask(this.#throttle) : undefined
    const writes = this.#wantsProbe ? [...this.#writes, { kind: 'probe' } as const] : [...this.#writes]
    return tokens === undefined && writes.length === 0 ? undefined : { tokens, writes }
  }

  #ask({ limit, windowSeconds }: ThrottleRule): TokenAsk {
    const wanted = Math.min(this.#batch, mostAsked({ limit, windowSeconds }))
    return { destination: this.#destination, limit, windowSeconds, wanted }
  }

  /** The writes of a turn are stored. */
  written({ writes }: DestinationTurn): void {
    this.#writes.splice(0, writes.filter(({ kind }) => kind !== 'probe').length)
  }

  /** @param sentAt when the process asked: the database granted them later. @param waitMs until the first token is free again. */
  granted(tokens: number, sentAt: number, waitMs: number | null): void {
    this.#wantsTokens = false
    if (tokens > 0) this.#tokens.push({ count: tokens, until: sentAt + TOKEN_MS })
    else this.#askAgainAt = this.#now() + Math.max(SHORTEST_WAIT_MS, waitMs ?? 0)
    this.#limits.wake()
  }

  /** Takes over what other processes have made of the outage. @param sentAt when the row was asked for. */
  follow({ state, failedProbes, version, sinceMs, probeInMs, probeLeftMs }: StoredLimit, sentAt: number): void {
    // What this process has not told yet is newer.
    if (this.#writes.length > 0) return
    const now = this.#now()
    const wasRefused = this.#wantsProbe && probeLeftMs === null
    if (version !== this.#version || wasRefused) {
      this.#version = version
      this.#state = state
      this.#limits.adopt({ state, since: now - sinceMs, nextProbe: now + probeInMs, failedProbes })
    }
    if (state === 'ok') {
      this.#wantsProbe = false
      return
    }
    if (!this.#wantsProbe || probeLeftMs === null) {
      if (!wasRefused || probeInMs <= 0) return
      // It is not due, as this process took it to be: the lanes look at the time again.
      this.#wantsProbe = false
      this.#limits.wake()
      return
    }
    this.#wantsProbe = false
    this.#probe = { grantedAt: now, until: sentAt + probeLeftMs }
    this.#limits.wake()
  }

  #endProbe(write: OutageWrite | undefined): void {
    this.#isProbing = false
    if (this.#probe === undefined) return
    this.#probe = undefined
    if (write !== undefined) this.#tell(write)
  }

  #tell(write: OutageWrite): void {
    this.#writes.push(write)
    this.#kick()
  }

  #dropExpired(now: number): void {
    const [first] = this.#tokens
    if (first === undefined || now < first.until) return
    this.#tokens = this.#tokens.filter(({ until }) => now < until)
    this.#batch = 1
  }
}

function mostAsked({ limit }: ThrottleRule): number {
  return Math.max(1, Math.floor(limit / ASKS_PER_WINDOW))
}
