import { type DeliveryCounts, DeliveryMetrics } from '../delivery/delivery-metrics.ts'

/** The sum of counts; those of a single shard as they are. */
export function addedCounts(parts: ReadonlySet<DeliveryCounts>): DeliveryCounts {
  const [first, ...others] = parts
  if (others.length === 0) return first!
  const sum = new DeliveryMetrics()
  for (const part of parts) sum.add(part)
  return sum
}
