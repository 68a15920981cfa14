import type { Queries } from '@millrace/postgres'
import type { Job, JobOver, LogSelection } from '../../job-store.ts'

/** Jobs under a condition, with their parts and counts. @param end condition, order and limit about `job`. */
export async function jobsWhere(
  queries: Pick<Queries, 'rows'>,
  end: string,
  values: readonly unknown[] = [],
): Promise<{ job: Job; number: number }[]> {
  const rows = await queries.rows<JobRow>(`${SELECT} ${end}`, values)
  const parts = await queries.rows<PartRow>(PARTS, [rows.map(({ number }) => number)])
  const byJob = Map.groupBy(parts, ({ job }) => job)
  return rows.map((row) => ({ number: row.number, job: jobOf(row, byJob.get(row.number) ?? []) }))
}

/** A job by its id. */
export async function jobOfId(queries: Pick<Queries, 'rows'>, id: string): Promise<Job | undefined> {
  return (await jobsWhere(queries, 'WHERE id = $1', [id]))[0]?.job
}

const SELECT = `
  SELECT job.*, coalesce(counts.delivered, 0)::bigint AS delivered, coalesce(counts.filtered, 0)::bigint AS filtered,
    coalesce(counts.dead_lettered, 0)::bigint AS dead_lettered
  FROM job LEFT JOIN LATERAL (
    SELECT sum(delivered) AS delivered, sum(filtered) AS filtered, sum(dead_lettered) AS dead_lettered
    FROM job_count WHERE job_count.job = job.number
  ) counts ON TRUE`

const PARTS = `
  SELECT job, name.name AS "destinationId", partition, place, is_at_end FROM job_part JOIN name ON name.id = destination
  WHERE job = ANY ($1) ORDER BY job, destination, partition`

interface JobRow {
  readonly number: number
  readonly id: string
  readonly kind: Job['kind']
  readonly origin: JobOver['origin']
  readonly rate: number
  readonly state: Job['state']
  readonly is_dry_run: boolean
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

interface PartRow {
  readonly job: number
  readonly destinationId: string
  readonly partition: number
  readonly place: string
  readonly is_at_end: boolean
}

function jobOf(row: JobRow, parts: readonly PartRow[]): Job {
  return {
    id: row.id,
    kind: row.kind,
    state: row.state,
    isDryRun: row.is_dry_run,
    ratePerSecond: row.rate,
    over: overOf(row),
    matched: row.matched,
    taken: row.taken,
    delivered: row.delivered,
    filtered: row.filtered,
    deadLettered: row.dead_lettered,
    discarded: row.discarded,
    parts: parts.map(({ destinationId, partition, place, is_at_end }) => {
      return { destinationId, partition, place: JSON.parse(place), isAtEnd: is_at_end }
    }),
    createdBy: row.created_by,
    createdAt: row.created_at,
    finishedAt: row.finished_at,
  }
}

function overOf({ origin, filter }: JobRow): JobOver {
  if (origin === 'log') return { origin, selection: JSON.parse(filter!) as LogSelection }
  return { origin, filter: filter === null ? null : JSON.parse(filter) }
}
