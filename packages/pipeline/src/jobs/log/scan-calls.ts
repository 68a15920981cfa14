import type { LogSelection } from '@millrace/delivery'

/** The next event to read in a partition. */
export interface ScanPlace {
  readonly offset: number
  readonly index: number
}

/** An event that a job over the log selects. */
export interface SelectedEvent extends ScanPlace {
  /** Index of its stream in the log's list of streams. */
  readonly stream: number
  readonly sourceId: string
  readonly acceptedAt: number
}

export interface ScanRequest {
  readonly partition: number
  /** From `EventLog.scan`. */
  readonly frames: Uint8Array<ArrayBuffer>
  /** Events before this place have been read. */
  readonly from: ScanPlace
  readonly selection: LogSelection
  readonly destinationId: string
}

export interface ScanStep {
  readonly found: readonly SelectedEvent[]
  /** No later event can match. */
  readonly isAtEnd: boolean
}

/**
 * The functions of the thread that searches the log for jobs; it is started with a port of `DeliveryStore.outcomePort`.
 */
export type ScanCalls = {
  select(request: ScanRequest): Promise<ScanStep>
}
