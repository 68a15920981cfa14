import { describe } from 'vitest'
import { testAuditEntries } from './conformance/audit-entries.ts'
import { testCommits } from './conformance/commits.ts'
import type { StoreDatabase } from './conformance/store-database.ts'

/** Tests that every engine of the control store must pass. */
export function describeControlStore(engine: string, makeDatabase: () => StoreDatabase): void {
  describe(`control store: ${engine}`, () => {
    testCommits(makeDatabase)
    testAuditEntries(makeDatabase)
  })
}
