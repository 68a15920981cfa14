import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { systemClock } from '@millrace/std'
import { afterAll } from 'vitest'
import { describeEventLog } from '../conformance.ts'
import { SqliteEventLog } from './sqlite-event-log.ts'

const root = mkdtempSync(join(tmpdir(), 'millrace-log-'))
afterAll(() => rmSync(root, { recursive: true, force: true }))
let folders = 0
const open = (options = {}) =>
  SqliteEventLog.open({ directory: join(root, `log-${++folders}`), clock: systemClock, ...options })

describeEventLog('SQLite', open)
describeEventLog('SQLite, 4 partitions', () => open({ partitions: 4 }))
describeEventLog('SQLite, 16 partitions, everything read from disk', () => open({ partitions: 16, cacheBytes: 0 }))
describeEventLog('SQLite, everything read from disk', () => open({ cacheBytes: 0 }))
describeEventLog('SQLite, a segment for every few commits', () => open({ cacheBytes: 0, segmentBytes: 40_000 }))
