import type { DeliveryStore } from '@millrace/delivery'
import type { EventLog } from '@millrace/log'
import type { Clock } from '@millrace/std'

/** Unfinished events of damaged segments end as expired. */
export async function recordDamage(
  {
    log,
    store,
    clock,
  }: { readonly log: EventLog; readonly store: Pick<DeliveryStore, 'outcomes'>; readonly clock: Clock },
  destinationIds: () => Iterable<string>,
): Promise<void> {
  for (let partition = 0; partition < log.partitions; partition++) {
    for (const { from, to } of log.damaged(partition)) {
      for (const destinationId of destinationIds()) {
        await store.outcomes.expireRange({
          destinationId,
          sourceId: null,
          partition,
          fromOffset: from,
          toOffset: to,
          outcome: 'expired',
          reason: 'segment was damaged',
          count: 0,
          at: clock.now(),
        })
      }
    }
  }
}
