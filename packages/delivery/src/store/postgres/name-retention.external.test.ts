import { TestSchema } from '@millrace/postgres/testing/test-schema'
import { expect, test } from 'vitest'
import { eventAt, laneOf, letter } from '../conformance/store-place.ts'
import { deliveryTestSchema, openStore } from './testing/store-under-test.ts'

const TEXTS = ['TypeError: no seat', 'TypeError: no row', 'TypeError: no hall', 'answer of one letter']

/** Dead letters with these reasons; all but the last leave. */
async function leftTexts() {
  const schema = await deliveryTestSchema(TestSchema.open('texts'))
  const { store, pool, ...first } = await openStore(schema)
  const outcomes = laneOf(store, 'd1', 9)
  for (const [i, reason] of TEXTS.entries()) outcomes.deadLetter(eventAt(i), letter(i, { reason, requests: null }))
  await store.flush()
  const names = async () =>
    (await pool.query<{ name: string }>('SELECT name FROM name ORDER BY id')).map(({ name }) => name)
  const before = await names()
  await pool.query('DELETE FROM dead_letter WHERE "offset" < 3')
  await pool.query('DELETE FROM letter_group WHERE reason IN (SELECT id FROM name WHERE name = ANY ($1))', [
    TEXTS.slice(0, 3),
  ])
  /** By a process that has just begun. */
  const tidy = async () => {
    await using other = await openStore(schema)
    await other.store.tidy({ finalBefore: 0, logOldest: [], maxBytes: 1e9 })
  }
  const passDay = () => pool.query(`UPDATE name SET unused_since = unused_since - interval '25 hours'`)
  const dispose = async () => {
    await first[Symbol.asyncDispose]()
    await schema[Symbol.asyncDispose]()
  }
  return { schema, store, pool, before, names, tidy, passDay, [Symbol.asyncDispose]: dispose }
}

test('texts that no row uses are dropped after a day; ids and texts in use stay', async () => {
  await using left = await leftTexts()
  await left.tidy()
  expect(await left.names()).toEqual(left.before)
  await left.passDay()
  await left.tidy()
  expect(await left.names()).toEqual(left.before.filter((name) => !TEXTS.slice(0, 3).includes(name)))
  const { rows } = await left.store.deadLetters.page({ filter: {}, limit: 10, before: null })
  expect(rows).toMatchObject([{ reason: TEXTS[3], destinationId: 'd1', sourceId: 's1' }])
})

test('a text that a process has looked up since is not dropped', async () => {
  await using left = await leftTexts()
  await left.tidy()
  await left.passDay()
  {
    await using looking = await openStore(left.schema)
    await looking.store.deadLetters.page({ filter: { reason: TEXTS[0]! }, limit: 10, before: null })
  }
  await left.tidy()
  const kept = (await left.names()).filter((name) => TEXTS.includes(name))
  expect(kept.sort()).toEqual([TEXTS[0], TEXTS[3]])
})

test('no text is dropped while processes of two releases run', async () => {
  await using left = await leftTexts()
  const join = (version: string) =>
    left.pool.query(`INSERT INTO member VALUES ($1, '{pipeline}', 'a', $1, now() + interval '6 s')`, [version])
  await left.tidy()
  await left.passDay()
  for (const version of ['1.0.0', '1.1.0']) await join(version)
  await left.tidy()
  expect(await left.names()).toEqual(left.before)
  await left.pool.query(`DELETE FROM member WHERE version = '1.0.0'`)
  await left.tidy()
  expect(await left.names()).not.toEqual(left.before)
})
