import type { LookupAddress } from 'node:dns'
import { type Clock, Deadlines } from '@millrace/std'
import { plainHost } from '../egress-list.ts'
import { askDns, type DnsAnswer, reachingFamilies } from './ask-dns.ts'
import { completed, HostsFile, type ResolverFiles, readCompletion, SYSTEM_FILES } from './resolver-files.ts'

/**
 * Finds all addresses of a name.
 *
 * @param onFound called once, never before the function has returned.
 * @param isConfigured whether a configuration names it: then it is completed by the search list of resolv.conf.
 * @returns takes the question back; then `onFound` is not called any more.
 */
export type Lookup = (hostname: string, onFound: OnFound, isConfigured: boolean) => (() => void) | undefined

export type OnFound = (error: NodeJS.ErrnoException | null, addresses: readonly LookupAddress[]) => void

export interface NamesOptions {
  readonly clock: Clock
  /** In place of those that the system names, each `address:port`. */
  readonly servers?: readonly string[]
  readonly files?: ResolverFiles
  /** Default: those by which this machine could reach others. */
  readonly families?: readonly (4 | 6)[]
}

const MAX_IN_FLIGHT = { configured: 64, named: 32 }
const MAX_IN_FLIGHT_PER_DESTINATION = 8
const MAX_WAITING_PER_DESTINATION = 256
const MAX_KNOWN = 1_000
/** Two tries of 2 s; less than a connection may take, so that a failure is known when it is reported. */
const LOOKUP_TIMEOUT_MS = 4_000
const FAILURE_KEPT_MS = 5_000
const MIN_KEPT_MS = 1_000
const MAX_KEPT_MS = 300_000

/**
 * Resolves names for all destinations. Names that configurations hold and names that events, user code or redirects bring
 * have budgets and memories of their own, so the latter can neither hold up the former nor push them out.
 *
 * @see contracts/delivery.md §9, docs/decisions/0076-names-without-threads.md
 */
export class HostNames {
  readonly #hosts: HostsFile
  readonly #configured: LookupQueue
  readonly #named: LookupQueue
  readonly #deadlines: Deadlines

  constructor({ clock, servers, families, files = SYSTEM_FILES }: NamesOptions) {
    this.#hosts = new HostsFile(files.hosts, clock)
    this.#deadlines = new Deadlines(clock, LOOKUP_TIMEOUT_MS)
    const familiesOf = () => families ?? reachingFamilies()
    const shared = { clock, deadlines: this.#deadlines, servers, familiesOf }
    this.#configured = new LookupQueue({
      ...shared,
      maxInFlight: MAX_IN_FLIGHT.configured,
      namesOf: (name) => completed(name, readCompletion(files.resolvConf)),
    })
    this.#named = new LookupQueue({ ...shared, maxInFlight: MAX_IN_FLIGHT.named, namesOf: (name) => [name] })
  }

  /** @returns lookups for one destination, or for the user code of one. */
  forDestination(): Lookup {
    const configured = new Share()
    const named = new Share()
    return (hostname, onFound, isConfigured) => {
      const fixed = this.#fixed(plainHost(hostname))
      if (fixed !== undefined) return answerSoon({ addresses: fixed }, onFound)
      const queue = isConfigured ? this.#configured : this.#named
      return queue.find(hostname.toLowerCase(), isConfigured ? configured : named, onFound)
    }
  }

  close(): void {
    this.#configured.close()
    this.#named.close()
    this.#deadlines.close()
  }

  /** `localhost` and the names below it are this machine, whatever a name server says (RFC 6761 section 6.3). */
  #fixed(name: string): LookupAddress[] | undefined {
    const isLocal = name === 'localhost' || name.endsWith('.localhost')
    const addresses = this.#hosts.find(name) ?? (isLocal ? ['127.0.0.1', '::1'] : undefined)
    return addresses?.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }))
  }
}

/** What one destination takes of a queue. */
class Share {
  inFlight = 0
  readonly flights = new Map<string, Flight>()
}

/** One lookup, and the connections that wait for it. */
interface Flight {
  readonly hostname: string
  readonly share: Share
  readonly waiting: Set<OnFound>
  /** Set while it is under way. */
  end?: () => void
}

type Known = { readonly until: number } & Found
type Found = { readonly addresses: readonly LookupAddress[] } | Extract<DnsAnswer, { error: string }>

interface QueueOptions {
  readonly clock: Clock
  readonly deadlines: Deadlines
  readonly servers: readonly string[] | undefined
  readonly familiesOf: () => readonly (4 | 6)[]
  readonly maxInFlight: number
  readonly namesOf: (hostname: string) => string[]
}

/** Lookups of one kind: what is known, what is under way, and what waits until it may be. */
class LookupQueue {
  readonly #options: QueueOptions
  readonly #known = new Map<string, Known>()
  readonly #underWay = new Set<Flight>()
  readonly #waiting = new Set<Flight>()

  constructor(options: QueueOptions) {
    this.#options = options
  }

  find(hostname: string, share: Share, onFound: OnFound): () => void {
    const known = this.#known.get(hostname)
    if (known !== undefined && known.until > this.#options.clock.monotonic()) return answerSoon(known, onFound)
    let flight = share.flights.get(hostname)
    if (flight === undefined) {
      if (share.flights.size >= MAX_IN_FLIGHT_PER_DESTINATION + MAX_WAITING_PER_DESTINATION) {
        return answerSoon({ error: 'EAI_AGAIN' }, onFound)
      }
      flight = { hostname, share, waiting: new Set() }
      share.flights.set(hostname, flight)
      this.#waiting.add(flight)
      this.#startNext()
    }
    const { waiting } = flight
    // The same function may wait twice.
    const own: OnFound = (error, addresses) => onFound(error, addresses)
    waiting.add(own)
    return () => {
      if (waiting.delete(own) && waiting.size === 0) this.#remove(flight)
    }
  }

  close(): void {
    this.#waiting.clear()
    for (const flight of [...this.#underWay]) this.#remove(flight)
  }

  /** Of what waits, first what belongs to those that have least under way. */
  #startNext(): void {
    while (this.#underWay.size < this.#options.maxInFlight) {
      let next: Flight | undefined
      for (const flight of this.#waiting) {
        const { inFlight } = flight.share
        if (inFlight < (next?.share.inFlight ?? MAX_IN_FLIGHT_PER_DESTINATION)) next = flight
      }
      if (next === undefined) return
      this.#start(next)
    }
  }

  #start(flight: Flight): void {
    const { clock, deadlines, servers, familiesOf, namesOf } = this.#options
    const { hostname, share } = flight
    this.#waiting.delete(flight)
    this.#underWay.add(flight)
    share.inFlight++
    const question = { names: namesOf(hostname), servers, families: familiesOf(), clock }
    const takeBack = askDns(question, (answer) => this.#land(flight, answer))
    const deadline = deadlines.start(() => this.#land(flight, { error: 'EAI_AGAIN' }))
    flight.end = () => {
      deadlines.clear(deadline)
      takeBack()
    }
  }

  #land(flight: Flight, answer: DnsAnswer): void {
    const keptMs =
      'error' in answer ? FAILURE_KEPT_MS : Math.min(MAX_KEPT_MS, Math.max(MIN_KEPT_MS, answer.ttlSeconds * 1_000))
    this.#keep(flight.hostname, { ...answer, until: this.#options.clock.monotonic() + keptMs })
    const all = [...flight.waiting]
    flight.waiting.clear()
    this.#remove(flight)
    for (const onFound of all) tell(answer, flight.hostname, onFound)
  }

  #keep(hostname: string, known: Known): void {
    this.#known.delete(hostname)
    if (this.#known.size >= MAX_KNOWN) this.#known.delete(this.#known.keys().next().value!)
    this.#known.set(hostname, known)
  }

  #remove(flight: Flight): void {
    const { share, hostname, end } = flight
    share.flights.delete(hostname)
    this.#waiting.delete(flight)
    if (!this.#underWay.delete(flight)) return
    share.inFlight--
    end!()
    this.#startNext()
  }
}

function answerSoon(found: Found, onFound: OnFound): () => void {
  const immediate = setImmediate(() => tell(found, '', onFound))
  return () => clearImmediate(immediate)
}

function tell(found: Found, hostname: string, onFound: OnFound): void {
  if ('addresses' in found) onFound(null, found.addresses)
  else onFound(Object.assign(new Error(`${hostname} was not resolved`), { code: found.error }), [])
}
