import { LocalDestinationLimits, LocalMemoryBudget } from '@millrace/delivery'
import { deliveryOf } from '../delivery/delivered-listeners.ts'
import { Pipeline } from '../pipeline.ts'
import type { ShardDeps } from '../pipeline-options.ts'
import type { OpenShards } from './delivery-host.ts'

export interface LocalShardOptions
  extends Omit<ShardDeps, 'metrics' | 'live' | 'memory' | 'limitsOf' | 'onDelivered' | 'onReplayEnded'> {
  readonly memoryBytes: number
}

/** One shard of all partitions on the thread of the caller. */
export function localShard({ memoryBytes, ...deps }: LocalShardOptions): OpenShards<Pipeline> {
  return async ({ configuration, recovery, delivered, ...shared }) => {
    const partitions = [...Array(deps.log.partitions).keys()]
    const memory = new LocalMemoryBudget(memoryBytes)
    // The one lane of the destination joins them.
    const limitsOf = () => new LocalDestinationLimits()
    const onDelivered: ShardDeps['onDelivered'] = (event, destination, status, durationMs) => {
      if (delivered.isWatched) delivered.tell(deliveryOf(event, destination, status, durationMs))
    }
    return [
      await Pipeline.start({ ...deps, ...shared, memory, limitsOf, partitions, configuration, recovery, onDelivered }),
    ]
  }
}
