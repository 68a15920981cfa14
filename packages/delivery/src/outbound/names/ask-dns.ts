import { type LookupAddress, type RecordWithTtl, Resolver } from 'node:dns'
import { networkInterfaces } from 'node:os'
import type { Clock, Timer } from '@millrace/std'

export interface Question {
  /** Tried in this order until one has an address. */
  readonly names: readonly string[]
  /** In place of those that the system names, each `address:port`. */
  readonly servers: readonly string[] | undefined
  readonly families: readonly (4 | 6)[]
  readonly clock: Clock
}

export type DnsAnswer =
  | { readonly addresses: readonly LookupAddress[]; readonly ttlSeconds: number }
  /** `ENOTFOUND`: there is no such name, or it has no address. `EAI_AGAIN`: it may have one. */
  | { readonly error: 'ENOTFOUND' | 'EAI_AGAIN' }

const TRY_TIMEOUT_MS = 2_000
const TRIES = 2
/** How long addresses of one family wait for those of the other. RFC 8305 section 3 suggests 50 ms; there is no hurry here. */
const OTHER_FAMILY_MS = 250

/**
 * Asks DNS for the addresses of a name, without the threads that files and compression share: a server that never answers
 * costs a socket and a timer, and the question can be taken back.
 *
 * @param onAnswer called once, never before this function has returned.
 * @returns takes the question back; then `onAnswer` is not called any more.
 */
export function askDns(
  { names, servers, families, clock }: Question,
  onAnswer: (answer: DnsAnswer) => void,
): () => void {
  // A resolver for each question: taking one back takes back everything that its resolver was asked.
  const resolver = new Resolver({ timeout: TRY_TIMEOUT_MS, tries: TRIES, maxTimeout: TRY_TIMEOUT_MS })
  if (servers !== undefined) resolver.setServers(servers)
  let isOver = false
  let isUncertain = false
  let patience: Timer | undefined

  function end(): void {
    isOver = true
    patience?.cancel()
    resolver.cancel()
  }

  function answer(result: DnsAnswer): void {
    end()
    onAnswer(result)
  }

  function ask(at: number): void {
    const found: LookupAddress[] = []
    const ttls: number[] = []
    let unanswered = families.length
    let isSilent = false
    const settle = () => {
      const addresses = found.sort((a, b) => a.family - b.family)
      if (addresses.length > 0) answer({ addresses, ttlSeconds: Math.min(...ttls) })
      // A server that is silent now would be for the next name, too.
      else if (at + 1 < names.length && !isSilent) ask(at + 1)
      else answer({ error: isUncertain ? 'EAI_AGAIN' : 'ENOTFOUND' })
    }
    for (const family of families) {
      const onRecords = (error: NodeJS.ErrnoException | null, records: readonly RecordWithTtl[]) => {
        if (isOver) return
        unanswered--
        if (error !== null && !ABSENT.has(error.code)) isUncertain = true
        if (error?.code === 'ETIMEOUT') isSilent = true
        for (const { address, ttl } of records ?? []) {
          found.push({ address, family })
          ttls.push(ttl)
        }
        if (unanswered === 0) settle()
        else if (found.length > 0) patience = clock.setTimer(settle, OTHER_FAMILY_MS)
      }
      if (family === 4) resolver.resolve4(names[at]!, { ttl: true }, onRecords)
      else resolver.resolve6(names[at]!, { ttl: true }, onRecords)
    }
  }

  ask(0)
  return end
}

const ABSENT: ReadonlySet<unknown> = new Set(['ENOTFOUND', 'ENODATA', 'EBADNAME'])

/** The families by which this machine could reach other ones; if there are none, both. */
export function reachingFamilies(): (4 | 6)[] {
  const own = Object.values(networkInterfaces()).flatMap((addresses) => addresses ?? [])
  const reaching = own.filter(({ internal, address }) => !internal && !address.startsWith('fe80:'))
  const families = ([4, 6] as const).filter((family) => reaching.some((each) => each.family === `IPv${family}`))
  return families.length === 0 ? [4, 6] : families
}
