import { MemoryEventLog } from '@millrace/log'
import { expect, test } from 'vitest'
import { START } from '../testing/pipeline-under-test.ts'
import { recordOf, tracks } from '../testing/test-events.ts'
import { LookBack } from './look-back.ts'

const noOutcomes = {
  outcomesOf: async (_: number, events: readonly unknown[]) => events.map(() => []),
}

/** A log of three records of ten events, `a-0` to `c-9`, read back as a whole. */
async function threeRecords() {
  const log = new MemoryEventLog()
  for (const prefix of ['a', 'b', 'c']) {
    await log.append(
      0,
      'live',
      recordOf(
        tracks(10, (n) => (n === 0 ? 'first' : 'u'), prefix),
        's1',
        START,
      ),
    )
  }
  const chunk = async (before: number) => {
    const { frames, next } = await log.readBack(0, before, 1_000_000)
    return { partition: 0, frames, isFirst: next === 0 }
  }
  return { chunk, end: log.end(0) }
}

test('a look back looks at exactly as many events as it may, and goes on inside of a record', async () => {
  const { chunk, end } = await threeRecords()
  const start = (place: { offset: number; index: number }) =>
    new LookBack({ filter: { userId: 'first' }, places: [place], spans: [] }, noOutcomes)
  const first = await start({ offset: end, index: 0 }).goOn(await chunk(end), 10, 14)
  expect(first).toMatchObject({ looked: 14, places: [{ offset: 1, index: 6 }], isAtEnd: false })
  expect(first.found.map(({ messageId }) => messageId)).toEqual(['c-0'])
  const second = await start(first.places[0]!).goOn(await chunk(2), 10, 1_000)
  expect(second).toMatchObject({ looked: 16, wants: undefined, isAtEnd: true })
  expect(second.found.map(({ messageId }) => messageId)).toEqual(['b-0', 'a-0'])
})

test('it wants records until it has some, and stops at as many as are asked for', async () => {
  const { chunk, end } = await threeRecords()
  const lookBack = new LookBack({ filter: {}, places: [{ offset: end, index: 0 }], spans: [] }, noOutcomes)
  expect(await lookBack.goOn(undefined, 3, 1_000)).toMatchObject({ looked: 0, wants: 0, isAtEnd: false })
  const step = await lookBack.goOn(await chunk(end), 3, 1_000)
  expect(step).toMatchObject({ places: [{ offset: 2, index: 7 }], wants: undefined, isAtEnd: false })
  expect(step.found.map(({ messageId }) => messageId)).toEqual(['c-9', 'c-8', 'c-7'])
})

test('an event is found however its user and name are written', async () => {
  const WRITTEN: [body: string, filter: object][] = [
    ['{"type":"track","event":"Paid","userId":"u-1"}', { userId: 'u-1', name: 'Paid' }],
    ['{"type":"track","event":"Paid","userId":"u-1","anonymousId":"a-1"}', { anonymousId: 'a-1', notName: 'Left' }],
    ['{"type":"track","event":"Paid","anonymousId":47.11e2}', { anonymousId: '4711' }],
    ['{"type":"track","event":"P\\u0061id","userId":"\\u0075-1"}', { userId: 'u-1', name: 'Paid' }],
    ['{"type":"track","event":"Paid","userId":"u\u007f-\\u00001 "}', { userId: 'u-1' }],
    ['{"type":"track","event":"Paid","userId":"u\u007f-1"}', { userId: 'u-1' }],
    ['{"type":"track","event":"Paid","userId":47.11e2}', { userId: '4711' }],
    ['{"type":"track","event":"Zürich \\"Nord\\" \\/","userId":"é"}', { userId: 'é', name: 'Zürich "Nord" /' }],
    ['{"type":"track","event":"\ufffd","userId":"u-1"}', { name: '\ufffd' }],
  ]
  for (const [event, filter] of WRITTEN) {
    const log = new MemoryEventLog()
    const record = recordOf(tracks(1), 's1', START)
    await log.append(0, 'live', { ...record, body: Buffer.from(`{"batch":[${event}]}`) })
    const { frames } = await log.readBack(0, 1, 1)
    const look = async (wanted: object) => {
      const lookBack = new LookBack({ filter: wanted, places: [{ offset: 1, index: 0 }], spans: [] }, noOutcomes)
      return (await lookBack.goOn({ partition: 0, frames, isFirst: true }, 10, 10)).found.length
    }
    expect([event, await look(filter), await look({ ...filter, userId: 'u-2' })]).toEqual([event, 1, 0])
  }
})
