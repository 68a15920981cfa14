import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { ManualClock } from '@millrace/std'
import { expect, test } from 'vitest'
import type { DeadLetterFilter } from '../../dead-letter-store.ts'
import { SqliteDeliveryStore } from '../sqlite-delivery-store.ts'

const NOW = Date.parse('2026-03-04T09:00:00.000Z')
const COUNT = process.env['FULL'] === undefined ? 100_000 : 1_000_000
/** Rows that one page looks at. */
const MAX_LOOKED_AT = 10_000

/** So many dead letters, of which each ten-thousandth is of a rare source, reason and user. */
function fill(file: string): void {
  const db = new DatabaseSync(file)
  db.exec(`
    INSERT INTO names (name) VALUES ('d1'), ('d2'), ('common'), ('rare'), ('answered 400'), ('refused');
    WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < ${COUNT - 1})
    INSERT INTO dead_letters (destination, source, partition, offset, idx, state, stage, reason, accepted_at, dead_at,
      attempts, last_status, last_answer, revision, state_at, requests, event)
    SELECT 1 + (i % 2), iif(i % 10000 = 7, 4, 3), 0, i, 0, 0, 2, iif(i % 10000 = 7, 6, 5), ${NOW}, ${NOW} + i, 1, 400, NULL, 1, 0,
      NULL, '{"type":"track","event":"Seat Reserved","messageId":"m-' || i || '","userId":"'
      || iif(i % 10000 = 7, 'rare', 'u-' || i % 5000) || '","properties":{"hall":"B","padding":"${'x'.repeat(300)}"}}'
    FROM n`)
  db.close()
}

test(`${COUNT} dead letters are listed and filtered page by page, and no page reads the list whole`, async () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'millrace-delivery-'))
  const file = path.join(folder, 'delivery.db')
  const store = await SqliteDeliveryStore.open({ file, clock: new ManualClock(NOW), logger: { info() {}, error() {} } })
  try {
    fill(file)
    const page = async (filter: DeadLetterFilter, limit: number, before: number | null) => {
      const answer = await store.deadLetters.page({ filter: { state: 'open', ...filter }, limit, before })
      const { destinationId, state } = filter
      // With those an index leads past rows that nobody looks at.
      if (answer.next === null || destinationId !== undefined || state !== undefined) return answer
      expect((before ?? COUNT + 1) - answer.next).toBeLessThanOrEqual(MAX_LOOKED_AT)
      return answer
    }
    const rare = COUNT / 10_000
    const FILTERS: [DeadLetterFilter, number][] = [
      [{ sourceId: 'rare' }, rare],
      [{ sourceId: 'rare', destinationId: 'd2' }, rare],
      [{ sourceId: 'rare', destinationId: 'd1' }, 0],
      [{ reason: 'refused' }, rare],
      [{ userId: 'rare' }, rare],
      [{ messageId: 'm-7' }, 1],
      [{ to: NOW + 1_000 }, 1_000],
      [{ from: NOW + COUNT - 1_000 }, 1_000],
      [{ stage: 'user_transformation' }, 0],
      [{ state: 'discarded' }, 0],
      [{ sourceId: 'unknown' }, 0],
    ]
    // The rows of the table are numbered from 1.
    expect((await page({ sourceId: 'unknown' }, 500, null)).next).toBe(COUNT - MAX_LOOKED_AT + 1)
    expect((await page({ sourceId: 'rare', destinationId: 'd1' }, 500, null)).next).toBe(COUNT - 2 * MAX_LOOKED_AT + 1)
    for (const [filter, expected] of FILTERS) {
      let found = 0
      for (let before: number | null = null; ; ) {
        const { rows, next } = await page(filter, 500, before)
        found += rows.length
        if (next === null) break
        before = next
      }
      expect([filter, found]).toEqual([filter, expected])
    }
    // The first pages, and those in the middle and at the end, of all of them.
    for (const before of [null, COUNT / 2, 600]) {
      for (const destinationId of [undefined, 'd1']) {
        const { rows } = await page({ destinationId }, 500, before)
        expect(rows.length).toBe(before === 600 && destinationId === 'd1' ? 300 : 500)
        expect(rows.map(({ deadAt }) => deadAt)).toEqual(rows.map(({ deadAt }) => deadAt).toSorted((a, b) => b - a))
      }
    }
  } finally {
    await store.close()
    rmSync(folder, { recursive: true, force: true })
  }
})
