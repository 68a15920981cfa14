import { INTERNAL_ERROR } from '@millrace/delivery'
import type { IngestMetrics } from '@millrace/gateway'
import type { EventLog } from '@millrace/log'
import { ENDED_THE_PROCESS, type Pipeline } from '@millrace/pipeline'
import { CUT_KINDS, type SchemaCatalog } from '@millrace/schema-catalog'
import type { Histogram } from '@millrace/std'
import type { TransformationFigures } from '@millrace/transformations'
import type { DiskSpace } from '../disk-space.ts'

export interface MetricSources {
  readonly ingest: IngestMetrics
  readonly pipeline: Pipeline
  readonly log: EventLog
  readonly disk: DiskSpace
  readonly transformations: TransformationFigures
  readonly catalog: Pick<SchemaCatalog, 'status' | 'lagSeconds'>
  readonly openDeadLetters: () => Promise<readonly [string, number][]>
  readonly syncFailures: () => number
  readonly now: () => number
}

const INTERNAL_REASONS = [INTERNAL_ERROR, ENDED_THE_PROCESS]

type Sample = readonly [labels: Readonly<Record<string, string | number>>, value: number]

/**
 * The text of /metrics, Prometheus format 0.0.4. The counts are plain numbers where they arise; this only writes them down.
 *
 * @see contracts/ingest.md §8 [D137]
 */
export async function metricsText(sources: MetricSources): Promise<string> {
  const { ingest, pipeline, log, disk, transformations } = sources
  const requests = [...ingest.requests].flatMap(([route, byStatus]) =>
    [...byStatus].map(([status, count]): Sample => [{ route, status }, count]),
  )
  const events = [...ingest.events()].map(({ sourceId, type, count }): Sample => [{ source_id: sourceId, type }, count])
  const attempts = [...pipeline.metrics.attempts].flatMap(([id, byClass]) =>
    [...byClass].map(([answerClass, count]): Sample => [{ destination_id: id, class: answerClass }, count]),
  )
  const outcomes = [...pipeline.metrics.outcomes].flatMap(([id, byOutcome]) =>
    [...byOutcome].map(([outcome, count]): Sample => [{ destination_id: id, outcome }, count]),
  )
  const expired = [...pipeline.metrics.outcomes].flatMap(([id, byOutcome]): Sample[] => {
    const count = byOutcome.get('expired')
    return count === undefined ? [] : [[{ destination_id: id }, count]]
  })
  const internal = [...pipeline.metrics.reasons].flatMap(([id, byReason]) =>
    INTERNAL_REASONS.flatMap((reason): Sample[] => {
      const count = byReason.get(`dead_lettered ${reason}`)
      return count === undefined ? [] : [[{ destination_id: id, reason }, count]]
    }),
  )
  // A catalog that cannot be read is shown by /health; the other figures are as true as ever.
  const catalog = await sources.catalog.status().catch(() => undefined)
  const cuts = CUT_KINDS.map((kind): Sample => [{ kind }, sumOf(catalog?.sources ?? [], ({ cut }) => cut[kind])])
  const states = await pipeline.states()
  const gauge = (read: (state: (typeof states)[number]) => number) =>
    states.map((state): Sample => [{ destination_id: state.destinationId }, read(state)])
  return [
    counter('millrace_ingest_requests_total', 'Requests to the ingest routes.', requests),
    counter('millrace_ingest_events_total', 'Accepted events.', events),
    counter('millrace_ingest_rejected_total', 'Refused requests by reason.', labelled('reason', ingest.rejected)),
    histogram('millrace_ingest_duration_seconds', 'From request to answer.', ingest.durationSeconds),
    histogram('millrace_log_append_seconds', 'From append to durable.', ingest.appendSeconds),
    counter('millrace_log_sync_failures_total', 'Appends that could not be stored.', [[{}, sources.syncFailures()]]),
    gauges('millrace_log_bytes', 'Disk that the log takes.', [[{}, log.sizeBytes()]]),
    gauges('millrace_disk_free_bytes', 'Free space on the volume of the data folder.', [[{}, disk.freeBytes]]),
    counter('millrace_delivery_attempts_total', 'Attempts by class of the answer.', attempts),
    counter('millrace_delivery_total', 'Events by final outcome.', outcomes),
    gauges(
      'millrace_delivery_pending',
      'Events not delivered yet.',
      gauge(({ pending }) => pending),
    ),
    gauges(
      'millrace_delivery_oldest_pending_seconds',
      'Age of the oldest event not delivered yet.',
      gauge(({ oldestPendingAt }) => ageSeconds(oldestPendingAt, sources.now())),
    ),
    gauges(
      'millrace_delivery_blocked_users',
      'Users whose events wait for an earlier one.',
      gauge((s) => s.blockedUsers),
    ),
    gauges(
      'millrace_dead_letters',
      'Open dead letters.',
      (await sources.openDeadLetters()).map(([id, count]): Sample => [{ destination_id: id }, count]),
    ),
    counter('millrace_internal_dead_letters_total', 'Events given up for a fault of our own.', internal),
    gauges(
      'millrace_backlog_bytes',
      'Stored bytes of waiting events and open dead letters.',
      gauge(({ backlogBytes }) => backlogBytes),
    ),
    gauges('millrace_transformation_sandboxes', 'Sandboxes of user code alive.', [[{}, transformations.sandboxes]]),
    gauges('millrace_transformation_processes', 'Processes that user code runs in.', [[{}, transformations.children]]),
    gauges('millrace_transformation_penalised', 'Destinations whose user code runs apart after a fault.', [
      [{}, transformations.penalised],
    ]),
    counter('millrace_transformation_runs_total', 'Batches of user code, test runs included.', [
      [{}, transformations.runs],
    ]),
    counter(
      'millrace_transformation_faults_total',
      'Runs of user code that the sandbox ended, by fault.',
      Object.entries(transformations.troubles).map(([fault, count]): Sample => [{ fault }, count]),
    ),
    gauges('millrace_schema_lag_seconds', 'Age of the oldest event that the schema catalog has not counted yet.', [
      [{}, await sources.catalog.lagSeconds()],
    ]),
    counter('millrace_schema_cut_total', 'What limits of the schema catalog have cut.', cuts),
    counter('millrace_expired_total', 'Events given up by the system.', expired),
  ].join('')
}

function sumOf<T>(items: readonly T[], read: (item: T) => number): number {
  return items.reduce((sum, item) => sum + read(item), 0)
}

function ageSeconds(at: string | null, now: number): number {
  return at === null ? 0 : Math.max(0, (now - Date.parse(at)) / 1000)
}

function counter(name: string, help: string, samples: readonly Sample[]): string {
  return family(name, 'counter', help, samples)
}

function gauges(name: string, help: string, samples: readonly Sample[]): string {
  return family(name, 'gauge', help, samples)
}

function family(name: string, type: string, help: string, samples: readonly Sample[]): string {
  const lines = samples.map(([labels, value]) => `${name}${labelText(labels)} ${value}\n`)
  return `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n${lines.join('')}`
}

function histogram(name: string, help: string, { bounds, counts, sum, total }: Histogram): string {
  let below = 0
  const buckets = bounds.map((bound, i) => {
    below += counts[i]!
    return `${name}_bucket{le="${bound}"} ${below}\n`
  })
  const rest = `${name}_bucket{le="+Inf"} ${total}\n${name}_sum ${sum}\n${name}_count ${total}\n`
  return `# HELP ${name} ${help}\n# TYPE ${name} histogram\n${buckets.join('')}${rest}`
}

function labelled(name: string, counts: ReadonlyMap<string, number>): Sample[] {
  return [...counts].map(([value, count]): Sample => [{ [name]: value }, count])
}

function labelText(labels: Sample[0]): string {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${String(value).replace(/[\\"\n]/g, escaped)}"`)
  return pairs.length === 0 ? '' : `{${pairs.join(',')}}`
}

function escaped(character: string): string {
  return character === '\n' ? '\\n' : `\\${character}`
}
