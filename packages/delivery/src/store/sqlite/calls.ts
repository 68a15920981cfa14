import type { CallMap, ThreadCalls } from '@millrace/std'
import type { DeliveryStore, TidyRequest } from '../delivery-store.ts'
import type { Flush, RefusedRow } from '../flush.ts'
import type { UnderWay } from '../run-store.ts'

export interface DeliveryThreadData {
  readonly file: string
}

type Nouns = Pick<
  DeliveryStore,
  'outcomes' | 'deadLetters' | 'jobs' | 'backlog' | 'statistics' | 'spans' | 'messages' | 'runs'
>

/** The functions of a noun as the thread has them: they answer at once. */
type Answers<Noun> = {
  [Name in keyof Noun]: Noun[Name] extends (...request: infer Request) => Promise<infer Answer>
    ? (...request: Request) => Answer
    : never
}

/** Each crosses as `noun.function`. */
export type NounAnswers = { [Name in keyof Nouns]: Answers<Nouns[Name]> }

/** The other functions of the delivery store's thread. */
export type DeliveryCalls = {
  open(nothing: undefined): void
  /** Writes all of it in one transaction or, if rows of it cannot be written, nothing. @returns those rows. */
  flush(flush: Flush): RefusedRow[]
  noteUnderWay(event: UnderWay): void
  tidy(request: TidyRequest): void
  close(nothing: undefined): void
}

/** @returns the functions of all nouns by the names under which they cross. */
export function functionsOf(nouns: NounAnswers): CallMap {
  return Object.fromEntries(
    Object.entries(nouns).flatMap(([noun, answers]) =>
      Object.entries(answers).map(([name, answer]) => [`${noun}.${name}`, answer]),
    ),
  ) as CallMap
}

/** A noun whose functions are calls to the thread. */
export function nounOf<Name extends keyof Nouns>(thread: ThreadCalls<DeliveryCalls>, noun: Name): Nouns[Name] {
  const calls = thread as ThreadCalls<CallMap>
  const get = (_: object, name: string | symbol) => (request: unknown) => calls.call(`${noun}.${String(name)}`, request)
  return new Proxy({}, { get }) as Nouns[Name]
}
