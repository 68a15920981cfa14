import { describeEventLog } from '../conformance.ts'
import { MemoryEventLog } from './memory-event-log.ts'

describeEventLog('memory, one partition', async () => new MemoryEventLog(1))
describeEventLog('memory, three partitions', async () => new MemoryEventLog(3))
