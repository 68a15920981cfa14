import { INTERNAL_ERROR } from '@millrace/delivery'
import { type DeliveryCounts, type DeliveryHost, ENDED_THE_PROCESS } from '@millrace/pipeline'
import { counter, gauges, type MetricSample } from './http/prometheus-text.ts'

const INTERNAL_REASONS = [INTERNAL_ERROR, ENDED_THE_PROCESS]

export function ofDestination([id, count]: readonly [string, number]): MetricSample {
  return [{ destination_id: id }, count]
}

export function outcomeMetrics({ attempts, outcomes, reasons }: DeliveryCounts): string[] {
  const expired = [...outcomes].flatMap(([id, counts]): MetricSample[] => {
    const count = counts.get('expired')
    return count === undefined ? [] : [ofDestination([id, count])]
  })
  const internal = [...reasons].flatMap(([id, counts]) =>
    INTERNAL_REASONS.flatMap((reason): MetricSample[] => {
      const count = counts.get(`dead_lettered ${reason}`)
      return count === undefined ? [] : [[{ destination_id: id, reason }, count]]
    }),
  )
  return [
    counter('millrace_delivery_attempts_total', 'Attempts by class of the answer.', byLabel(attempts, 'class')),
    counter('millrace_delivery_total', 'Events by final outcome.', byLabel(outcomes, 'outcome')),
    counter('millrace_internal_dead_letters_total', 'Events dead-lettered because of an internal fault.', internal),
    counter('millrace_expired_total', 'Events expired by the system.', expired),
  ]
}

function byLabel(counts: ReadonlyMap<string, ReadonlyMap<string, number>>, label: string): MetricSample[] {
  return [...counts].flatMap(([id, of]) =>
    [...of].map(([value, count]): MetricSample => [{ destination_id: id, [label]: value }, count]),
  )
}

type State = Awaited<ReturnType<DeliveryHost['states']['list']>>[number]

export function stateMetrics(states: readonly State[], now: number): string[] {
  const family = (name: string, help: string, read: (state: State) => number) =>
    gauges(
      name,
      help,
      states.map((state) => ofDestination([state.destinationId, read(state)])),
    )
  const ageSeconds = ({ oldestPendingAt: at }: State) => (at === null ? 0 : Math.max(0, (now - Date.parse(at)) / 1000))
  return [
    family('millrace_delivery_pending', 'Events not delivered yet.', ({ pending }) => pending),
    family('millrace_delivery_oldest_pending_seconds', 'Age of the oldest event not delivered yet.', ageSeconds),
    family('millrace_delivery_blocked_users', 'Users whose events wait for an earlier one.', (s) => s.blockedUsers),
    family('millrace_backlog_bytes', 'Stored bytes of waiting events and open dead letters.', (s) => s.backlogBytes),
  ]
}
