import type { PooledEnd } from './host/guest-pool.ts'
import type { Thrown } from './messages.ts'

/** How the delivery of one event by one mapping ended. @see contracts/destination-catalog.md §9.2 */
export interface UnitOutcome {
  readonly kind: 'delivered' | 'retry' | 'abort'
  readonly status: number
  readonly text: string
  /** Of an abort: where it is shown. */
  readonly stage: 'dest_transformation' | 'delivery'
  /** Set where attempts of this kind are counted: after the third the unit is aborted. */
  readonly isFault?: true
}

/** Attempts of a unit that may end in a fault of the code or of the worker. */
export const MAX_FAULTS = 3

/** What a run knows besides its end. */
export interface RunFacts {
  /** Of the last answer; undefined if there was none. */
  readonly lastStatus: number | undefined
  /** A guard refused a request. */
  readonly refused: string | undefined
  /** Faults of earlier attempts. */
  readonly faults: number
}

export function unitOutcome(end: PooledEnd, { lastStatus, refused, faults }: RunFacts): UnitOutcome {
  if (refused !== undefined) return abort(403, refused)
  switch (end.kind) {
    case 'late':
      return fault('Timed out', 504, 'Timed out', faults)
    case 'lost':
      return fault('WORKER_LOST', 504, 'WORKER_LOST', faults)
    case 'crashed':
      return abort(500, 'WORKER_CRASHED')
    case 'busy':
      return retry(503, 'WORKER_BUSY')
    case 'ends': {
      const thrown = end.ends[0]?.thrown
      if (thrown !== undefined) return outcomeOfThrown(thrown, faults)
      return { kind: 'delivered', status: lastStatus ?? 200, text: '', stage: 'delivery' }
    }
  }
}

export function outcomeOfThrown(thrown: Thrown, faults: number): UnitOutcome {
  switch (thrown.kind) {
    case 'validation':
      return { kind: 'abort', status: 400, text: thrown.text, stage: 'dest_transformation' }
    case 'answer':
    case 'status':
      return outcomeOfStatus(thrown.status, thrown.text)
    case 'retryable':
      return retry(thrown.status, thrown.text)
    case 'noAnswer':
      return retry(500, thrown.text)
    case 'bound':
      return abort(400, thrown.text)
    case 'code':
      return fault(thrown.text, 500, `DESTINATION_CODE_ERROR: ${thrown.text}`, faults)
  }
}

export function outcomeOfStatus(status: number, text: string): UnitOutcome {
  return isTemporary(status) ? retry(status, text) : abort(status, text)
}

function isTemporary(status: number): boolean {
  return [401, 403, 408, 423, 429].includes(status) || (status >= 500 && status !== 501)
}

function fault(text: string, status: number, abortText: string, faults: number): UnitOutcome {
  if (faults + 1 >= MAX_FAULTS) return abort(status, abortText)
  return { ...retry(status, text), isFault: true }
}

function retry(status: number, text: string): UnitOutcome {
  return { kind: 'retry', status, text, stage: 'delivery' }
}

function abort(status: number, text: string): UnitOutcome {
  return { kind: 'abort', status, text, stage: 'delivery' }
}
