import type { Job, JobOver, LogSelection, NewLogJob } from '../job-store.ts'

/** A job as both engines store it; a flag is a number in SQLite. */
export interface StoredJob {
  readonly number: number
  readonly id: string
  readonly kind: Job['kind']
  readonly origin: JobOver['origin']
  readonly rate: number
  readonly state: Job['state']
  readonly is_dry_run: boolean | number
  readonly filter: string | null
  readonly matched: number | null
  readonly taken: number
  readonly delivered: number
  readonly filtered: number
  readonly dead_lettered: number
  readonly discarded: number
  readonly created_by: string
  readonly created_at: number
  readonly finished_at: number | null
}

export interface StoredJobPart {
  readonly destinationId: string
  readonly partition: number
  readonly place: string
  readonly is_at_end: boolean | number
}

export function jobOf(row: StoredJob, parts: readonly StoredJobPart[]): Job {
  return {
    id: row.id,
    kind: row.kind,
    state: row.state,
    isDryRun: Boolean(row.is_dry_run),
    ratePerSecond: row.rate,
    over: overOf(row),
    matched: row.matched,
    taken: row.taken,
    delivered: row.delivered,
    filtered: row.filtered,
    deadLettered: row.dead_lettered,
    discarded: row.discarded,
    parts: parts.map(({ destinationId, partition, place, is_at_end }) => {
      return { destinationId, partition, place: JSON.parse(place), isAtEnd: Boolean(is_at_end) }
    }),
    createdBy: row.created_by,
    createdAt: row.created_at,
    finishedAt: row.finished_at,
  }
}

function overOf({ origin, filter }: StoredJob): JobOver {
  if (origin === 'log') return { origin, selection: JSON.parse(filter!) as LogSelection }
  return { origin, filter: filter === null ? null : JSON.parse(filter) }
}

/** By partition: whether its part of a new job over the log has no work. */
export function startsAtEnd({ starts, selection }: Pick<NewLogJob, 'starts' | 'selection'>): boolean[] {
  return starts.map(([offset = 0], partition) => offset >= selection.ends[partition]!)
}
