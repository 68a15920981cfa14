import { ManualClock } from '@millrace/std'
import { expect, test } from 'vitest'
import { Catalog } from './catalog.ts'
import type { CatalogLog, CatalogRecord, CatalogStream } from './catalog-log.ts'
import { CatalogReader } from './reader.ts'
import { SharedPlaces } from './shared-places.ts'
import { TEST_LIMITS } from './test-limits.ts'

test('asleep, and when it is stopped, it keeps nothing of the log open', async () => {
  const clock = new ManualClock(0)
  const log = new OpenedLog()
  const places = new SharedPlaces()
  const catalog = new Catalog(':memory:', TEST_LIMITS, { onCut: () => {}, onUnreadable: () => {} })
  const failures: Error[] = []
  const reader = new CatalogReader({
    catalog: () => catalog,
    log,
    places,
    clock,
    cpuMicros: () => 0,
    onFailure: (error) => failures.push(error),
    onSuccess: () => {},
  })
  places.end = log.append(3)
  reader.follow()
  await clock.advance(0)
  expect([catalog.counted('live'), log.isOpen]).toEqual([3, true])
  await clock.advance(1_000)
  expect([places.wake(), log.isOpen]).toEqual([true, false])
  places.end = log.append(1)
  reader.wake()
  await clock.advance(50)
  expect([catalog.counted('live'), log.isOpen]).toEqual([4, true])
  reader.stop()
  expect(log.isOpen).toBe(false)
  expect(failures).toEqual([])
  catalog.close()
})

/** A log of empty records that knows whether somebody has it open. */
class OpenedLog implements CatalogLog {
  isOpen = false
  readonly #records: CatalogRecord[] = []

  /** @returns its end. */
  append(count: number): number {
    for (let i = 0; i < count; i++) {
      const offset = this.#records.length
      const header = {
        sourceId: 'source',
        route: 'batch' as const,
        acceptedAt: 0,
        clientAddress: '::1',
        seed: new Uint8Array(16),
        rules: 1,
        policySet: 0,
        messageHashes: new Uint8Array(0),
      }
      this.#records.push({ header, body: Buffer.from('{"batch":[]}'), offset })
    }
    return this.#records.length
  }

  read(stream: CatalogStream, from: number, end: number) {
    this.isOpen = true
    return { records: stream === 'live' ? this.#records.slice(from, end) : [], next: Math.max(from, end) }
  }

  release(): void {
    this.isOpen = false
  }
}
