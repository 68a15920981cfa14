import { describeEventLog } from '../conformance.ts'
import { MemoryEventLog } from './memory-event-log.ts'

describeEventLog('memory, one partition', async () => new MemoryEventLog(1))
describeEventLog('memory, four partitions', async () => new MemoryEventLog(4))
describeEventLog('memory, 16 partitions', async () => new MemoryEventLog(16))
