import type { MessagePort } from 'node:worker_threads'
import type { CallMap, PortCalls, ThreadCalls } from '@millrace/std'
import type { DeliveryStore, TidyRequest } from '../delivery-store.ts'
import type { Flush, RefusedRow } from '../outcomes/flush.ts'
import type { UnderWay } from '../run-store.ts'

export interface DeliveryThreadData {
  readonly file: string
}

type Nouns = Pick<
  DeliveryStore,
  'outcomes' | 'deadLetters' | 'jobs' | 'backlog' | 'statistics' | 'spans' | 'messages' | 'runs'
>

/** The functions of a noun inside the thread: they return at once. */
type Answers<Noun> = {
  [Name in keyof Noun]: Noun[Name] extends (...request: infer Request) => Promise<infer Answer>
    ? (...request: Request) => Answer
    : never
}

/** Each function is called by the name `noun.function`. */
export type NounAnswers = { [Name in keyof Nouns]: Answers<Nouns[Name]> }

/** The other functions of the delivery store's thread. */
export type DeliveryCalls = {
  open(nothing: undefined): void
  /** Writes the flush in one transaction, or nothing if rows cannot be written. @returns those rows. */
  flush(flush: Flush): RefusedRow[]
  noteUnderWay(event: UnderWay): void
  tidy(request: TidyRequest): void
  /** Answers another thread as well; the port moves here. */
  connect(port: MessagePort): void
  close(nothing: undefined): void
}

/** @returns the functions of all nouns by their call names. */
export function functionsOf(nouns: NounAnswers): CallMap {
  return Object.fromEntries(
    Object.entries(nouns).flatMap(([noun, answers]) =>
      Object.entries(answers).map(([name, answer]) => [`${noun}.${name}`, answer]),
    ),
  ) as CallMap
}

/** A noun whose functions call the thread. */
export function nounOf<Name extends keyof Nouns>(
  thread: ThreadCalls<DeliveryCalls> | PortCalls<DeliveryCalls>,
  noun: Name,
): Nouns[Name] {
  const calls = thread as ThreadCalls<CallMap>
  const get = (_: object, name: string | symbol) => (request: unknown) => calls.call(`${noun}.${String(name)}`, request)
  return new Proxy({}, { get }) as Nouns[Name]
}
