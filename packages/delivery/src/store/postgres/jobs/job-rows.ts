import type { Queries } from '@millrace/postgres'
import type { Job } from '../../job-store.ts'
import { jobOf, type StoredJob, type StoredJobPart } from '../../jobs/stored-job.ts'

/** Jobs under a condition, with their parts and counts. @param end condition, order and limit about `job`. */
export async function jobsWhere(
  queries: Pick<Queries, 'rows'>,
  end: string,
  values: readonly unknown[] = [],
): Promise<{ job: Job; number: number }[]> {
  const rows = await queries.rows<StoredJob & { parts: StoredJobPart[] }>(`${SELECT} ${end}`, values)
  return rows.map((row) => ({ number: row.number, job: jobOf(row, row.parts) }))
}

/** A job by its id. */
export async function jobOfId(queries: Pick<Queries, 'rows'>, id: string): Promise<Job | undefined> {
  return (await jobsWhere(queries, 'WHERE id = $1', [id]))[0]?.job
}

/** One statement, so what a job has taken and the places of its parts are of one moment. */
const SELECT = `
  SELECT job.*, coalesce(counts.delivered, 0)::bigint AS delivered, coalesce(counts.filtered, 0)::bigint AS filtered,
    coalesce(counts.dead_lettered, 0)::bigint AS dead_lettered, coalesce(parts.list, '[]') AS parts
  FROM job LEFT JOIN LATERAL (
    SELECT sum(delivered) AS delivered, sum(filtered) AS filtered, sum(dead_lettered) AS dead_lettered
    FROM job_count WHERE job_count.job = job.number
  ) counts ON TRUE LEFT JOIN LATERAL (
    SELECT json_agg(
      json_build_object('destinationId', name.name, 'partition', partition, 'place', place, 'is_at_end', is_at_end)
      ORDER BY destination, partition
    ) AS list
    FROM job_part JOIN name ON name.id = destination WHERE job_part.job = job.number
  ) parts ON TRUE`
