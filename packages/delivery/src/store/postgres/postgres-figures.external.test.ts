import type { PostgresPool } from '@millrace/postgres'
import { TestSchema } from '@millrace/postgres/testing/test-schema'
import { expect, test } from 'vitest'
import { FencedError } from '../shard-fence.ts'
import type { DestinationFigures, ShardFigures } from '../shard-figures.ts'
import { deliveryTestSchema, HeldShards, openStore, setEpoch } from './testing/store-under-test.ts'

const of = (
  destinationId: string,
  pending: number,
  waiting: DestinationFigures['waiting'] = [],
): DestinationFigures => ({
  destinationId,
  state: { pending },
  waiting,
})

/** Two members: one owns the shards 0 and 1, the other shard 2. */
async function cluster() {
  const schema = await deliveryTestSchema(TestSchema.open('figures'))
  const fences = [
    new HeldShards([
      [0, 1],
      [1, 1],
    ]),
    new HeldShards([[2, 1]]),
  ] as const
  const opened = await Promise.all(fences.map((fence, i) => openStore(schema, { fence, process: `p${i}` })))
  const reader = await openStore(schema, { process: 'control' })
  const { pool } = reader
  for (const shard of [0, 1, 2]) await own(pool, shard, { owner: shard < 2 ? 'p0' : 'p1', seconds: 60 })
  return {
    ...{ fences, pool, reader: reader.store.figures, one: opened[0]!.store.figures, other: opened[1]!.store.figures },
    async [Symbol.asyncDispose]() {
      for (const each of [...opened, reader]) await each[Symbol.asyncDispose]()
      await schema[Symbol.asyncDispose]()
    },
  }
}

/** @param seconds until the lease ends; negative: it has ended. */
async function own(pool: PostgresPool, shard: number, { owner, seconds, epoch = 1 }: OwnedLease): Promise<void> {
  await setEpoch(pool, shard, epoch)
  const until = "UPDATE lease SET owner = $2, until = now() + $3 * interval '1 s' WHERE kind = 'shard' AND number = $1"
  await pool.query(until, [shard, owner, seconds])
}

interface OwnedLease {
  readonly owner: string
  readonly seconds: number
  readonly epoch?: number
}

test('figures of owners are summed over their shards, and the next ones replace them', async () => {
  await using members = await cluster()
  const { one, other, reader } = members
  const first: ShardFigures[] = [
    {
      shard: 0,
      destinations: [
        of('d1', 3, [
          ['s1', 2],
          ['s2', 1],
        ]),
        of('d2', 0),
      ],
    },
    { shard: 1, destinations: [of('d1', 5, [['s3', 5]])] },
  ]
  await one.write(first)
  await other.write([{ shard: 2, destinations: [of('d1', 7, [['s4', 7]]), of('d2', 1, [['s4', 1]])] }])
  expect(await reader.waiting({ destinationId: 'd1' })).toBe(15)
  expect(await reader.waiting({ sourceId: 's4' })).toBe(8)
  expect(await reader.waiting({ destinationId: 'd2', sourceId: 's4' })).toBe(1)
  expect(await reader.waiting({ destinationId: 'd3' })).toBe(0)
  expect(await reader.states(['d2', 'd1', 'd3'])).toEqual([
    [{ pending: 0 }, { pending: 1 }],
    [{ pending: 3 }, { pending: 5 }, { pending: 7 }],
    [],
  ])
  expect(await reader.owners()).toEqual(
    new Map([
      ['d1', 2],
      ['d2', 1],
    ]),
  )

  await one.write([{ shard: 0, destinations: [of('d1', 1, [['s2', 1]])] }])
  expect([await reader.waiting({ destinationId: 'd1' }), await reader.waiting({ sourceId: 's1' })]).toEqual([13, 0])
  expect(await reader.states(['d1', 'd2'])).toEqual([
    [{ pending: 1 }, { pending: 5 }, { pending: 7 }],
    [{ pending: 1 }],
  ])
  // A shard without sources is given back with no figures.
  await one.write([{ shard: 1, destinations: [] }])
  expect(await reader.waiting({ destinationId: 'd1' })).toBe(8)
})

test('the states of a member whose lease has ended are left out; its events still wait until the next owner writes', async () => {
  await using members = await cluster()
  const { one, other, reader, pool, fences } = members
  await one.write([{ shard: 0, destinations: [of('d1', 3, [['s1', 3]])] }])
  await other.write([{ shard: 2, destinations: [of('d1', 4, [['s4', 4]])] }])

  await own(pool, 2, { owner: 'p1', seconds: -1 })
  expect(await reader.states(['d1'])).toEqual([[{ pending: 3 }]])
  expect([await reader.waiting({ destinationId: 'd1' }), await reader.owners()]).toEqual([7, new Map([['d1', 1]])])

  // The next owner has claimed it, and has not written yet.
  await own(pool, 2, { owner: 'p0', seconds: 60, epoch: 2 })
  fences[0].epochs.set(2, 2)
  expect(await reader.states(['d1'])).toEqual([[{ pending: 3 }]])
  expect(await reader.waiting({ destinationId: 'd1' })).toBe(7)

  await one.write([{ shard: 2, destinations: [of('d1', 2, [['s5', 2]])] }])
  expect(await reader.states(['d1'])).toEqual([[{ pending: 3 }, { pending: 2 }]])
  expect([await reader.waiting({ destinationId: 'd1' }), await reader.waiting({ sourceId: 's4' })]).toEqual([5, 0])
})

test('a member that lost a shard writes no figures of it, nor of the others in that call', async () => {
  await using members = await cluster()
  const { one, reader, pool, fences } = members
  await own(pool, 1, { owner: 'p1', seconds: 60, epoch: 2 })
  const figures = [0, 1].map((shard) => ({ shard, destinations: [of('d1', 9, [['s1', 9]])] }))
  await expect(one.write(figures)).rejects.toBeInstanceOf(FencedError)
  expect([fences[0].fenced, await reader.waiting({})]).toEqual([[1], 0])
  await one.write(figures.slice(0, 1))
  expect(await reader.waiting({})).toBe(9)
})
