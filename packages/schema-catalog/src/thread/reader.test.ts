import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
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

test('what is removed while another connection reads leaves the write-ahead log once it has ended, without a new event', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'millrace-catalog-traces-'))
  const file = join(folder, 'catalog.db')
  const clock = new ManualClock(0)
  const log = new OpenedLog()
  const places = new SharedPlaces()
  const catalog = new Catalog(file, TEST_LIMITS, { onCut: () => {}, onUnreadable: () => {} })
  const source = { id: 'source', writeKey: 'key' }
  catalog.configure([{ ...source, samples: 'full', hasValues: true }])
  const options = { log, places, clock, cpuMicros: () => 0, onFailure: () => {}, onSuccess: () => {} }
  const reader = new CatalogReader({ catalog: () => catalog, ...options })
  places.end = log.append(1, '{"batch":[{"type":"track","event":"E","properties":{"mail":"SECRET"}}]}')
  reader.follow()
  await clock.advance(10_000)
  const holdsSecret = () => readFileSync(`${file}-wal`).includes('SECRET')

  using backup = new DatabaseSync(file, { readOnly: true })
  backup.exec('BEGIN')
  backup.prepare('SELECT count(*) FROM models').get()
  catalog.configure([{ ...source, samples: 'off', hasValues: false }])
  reader.wake()
  await clock.advance(6_000)
  expect(holdsSecret()).toBe(true)
  backup.exec('COMMIT')
  await clock.advance(6_000)
  expect(holdsSecret()).toBe(false)
  reader.stop()
  catalog.close()
  rmSync(folder, { recursive: true })
})

/** A log that knows whether somebody has it open. */
class OpenedLog implements CatalogLog {
  isOpen = false
  readonly #records: CatalogRecord[] = []

  /** @returns its end. */
  append(count: number, body = '{"batch":[]}'): number {
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
      this.#records.push({ header, body: Buffer.from(body), offset })
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
