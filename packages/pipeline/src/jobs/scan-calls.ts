import type { LogSelection } from '@millrace/delivery'

/** The next event to look at in a partition. */
export interface ScanPlace {
  readonly offset: number
  readonly index: number
}

/** An event that a job over the log is for. */
export interface SelectedEvent extends ScanPlace {
  /** Index of its stream in the log's list of streams. */
  readonly stream: number
  readonly sourceId: string
  readonly acceptedAt: number
}

export interface ScanRequest {
  readonly partition: number
  /** Of `EventLog.scan`. */
  readonly frames: Uint8Array<ArrayBuffer>
  /** Events before it have been looked at. */
  readonly from: ScanPlace
  readonly selection: LogSelection
  readonly destinationId: string
}

export interface ScanStep {
  readonly found: readonly SelectedEvent[]
  /** Nothing that comes later can be one of them. */
  readonly isAtEnd: boolean
}

/** The functions of the thread that looks for the events of jobs; it is started with a port of `DeliveryStore.outcomePort`. */
export type ScanCalls = {
  select(request: ScanRequest): Promise<ScanStep>
}
