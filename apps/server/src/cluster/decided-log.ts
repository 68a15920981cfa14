import type { ScannedLog } from '@millrace/pipeline/cluster'
import type { ClusterEngines } from './engines.ts'

/** A replay takes no record on which the owner has not decided. */
export function decidedLog(log: ClusterEngines['log'], decided: (partition: number) => Promise<void>): ScannedLog {
  return {
    async scan(partition, from, maxBytes) {
      // A process that does not follow the partition does not know of its latest records.
      if (from >= log.end(partition)) await log.readEnds()
      for (;;) {
        const end = log.end(partition)
        await decided(partition)
        const read = await log.scan(partition, from, maxBytes)
        // The leader may have answered with records behind the end that this process knew.
        if (read.next <= end) return read
      }
    },
    oldest: (partition) => log.oldest(partition),
    end: (partition) => log.end(partition),
    deletedBefore: (partition) => log.deletedBefore(partition),
    damaged: () => log.damaged(),
  }
}
