// biome-ignore lint/correctness/noUndeclaredDependencies: a suite for tests, run by the test of each engine
import { describe, expect, test } from 'vitest'
import type { HeldLease, Lease, LeasedWork, Leases } from './leases.ts'

/** Members of one cluster, which is empty at first. */
export interface LeaseCluster extends AsyncDisposable {
  /** The leases are those of a member with role `pipeline`, and last 3 s. */
  join(): Leases
  /**
   * Writes a text in a transaction that first locks these leases, and writes nothing if one of them is lost.
   *
   * @param inside called within the transaction, before it writes.
   * @returns the lost leases.
   */
  write(held: readonly HeldLease[], text: string, inside?: () => Promise<void>): Promise<readonly HeldLease[]>
  /** In order of their commits. */
  written(): Promise<string[]>
}

export const LEASE_MS = 3_000

/** Work that records what happens to it. */
export class RecordedWork implements LeasedWork {
  readonly kind: string
  readonly role = 'pipeline'
  readonly running = new Map<number, Lease>()
  readonly aborted: HeldLease[] = []
  onStart: (lease: Lease) => Promise<void> = async () => {}
  onStop: (lease: Lease) => Promise<void> = async () => {}

  constructor(kind = 'shard') {
    this.kind = kind
  }

  async start(lease: Lease): Promise<void> {
    await this.onStart(lease)
    if (lease.signal.aborted) return
    this.running.set(lease.number, lease)
    lease.signal.addEventListener('abort', () => {
      this.aborted.push(lease)
      this.running.delete(lease.number)
    })
  }

  async stop(lease: Lease): Promise<void> {
    await this.onStop(lease)
    this.running.delete(lease.number)
  }

  /** Number and epoch of what runs, by number. */
  epochs(): Map<number, number> {
    return new Map([...this.running].sort(([a], [b]) => a - b).map(([number, { epoch }]) => [number, epoch]))
  }
}

/** Tests that every engine of leases must pass. */
export function describeLeases(engine: string, makeCluster: () => Promise<LeaseCluster>): void {
  const join = (cluster: LeaseCluster, numbers: readonly number[] = EIGHT, work = new RecordedWork()) => {
    const leases = cluster.join()
    leases.share(work, numbers)
    return { leases, work }
  }
  type Member = ReturnType<typeof join>
  const sizes = (members: readonly Member[]) => members.map(({ work }) => work.running.size).sort((a, b) => b - a)
  const running = (members: readonly Member[]) => members.flatMap(({ work }) => [...work.running.keys()]).sort()

  describe(`leases: ${engine}`, () => {
    test('one member holds every lease, and the work of each runs', async () => {
      await using cluster = await makeCluster()
      const { leases, work } = join(cluster)
      await expect.poll(() => [...work.epochs()]).toEqual(EIGHT.map((number) => [number, 1]))
      expect(leases.held('shard').map(({ number }) => number)).toEqual(EIGHT)
      expect(leases.held('shard').every((lease) => lease.mayStart())).toBe(true)
      expect(leases.members('pipeline')).toBe(1)
      await leases.leave()
    })

    test('members that join share fairly, and what stays within the share does not move', async () => {
      await using cluster = await makeCluster()
      const members = [join(cluster)]
      await expect.poll(() => sizes(members)).toEqual([8])
      const first = members[0]!.work.epochs()
      members.push(join(cluster))
      await expect.poll(() => sizes(members)).toEqual([4, 4])
      members.push(join(cluster))
      await expect.poll(() => sizes(members)).toEqual([3, 3, 2])
      expect(running(members)).toEqual(EIGHT)
      // The last claimed go first.
      expect([...members[0]!.work.epochs()]).toEqual([...first].slice(0, members[0]!.work.running.size))
      await Promise.all(members.map(({ leases }) => leases.leave()))
    })

    test('after a member leaves, the others take its leases, under new epochs, and keep their own', async () => {
      await using cluster = await makeCluster()
      const members = [join(cluster), join(cluster)] as const
      await expect.poll(() => sizes(members)).toEqual([4, 4])
      const [stays, leaves] = members
      const [kept, taken] = [stays.work.epochs(), leaves.work.epochs()]
      const started = performance.now()
      await leaves.leases.leave()
      expect(leaves.work.aborted).toEqual([])
      await expect.poll(() => sizes(members), { interval: 10 }).toEqual([8, 0])
      expect(performance.now() - started).toBeLessThan(1_000)
      for (const [number, epoch] of kept) expect(stays.work.running.get(number)?.epoch).toBe(epoch)
      for (const [number, epoch] of taken) expect(stays.work.running.get(number)?.epoch).toBe(epoch + 1)
      await stays.leases.leave()
    })

    test('a lease is given back only after its work has ended, and is held until then', async () => {
      await using cluster = await makeCluster()
      const member = join(cluster, [1])
      await expect.poll(() => member.work.running.size).toBe(1)
      const lease = member.work.running.get(1)!
      let end!: () => void
      member.work.onStop = () => new Promise((resolve) => (end = resolve))
      const leaving = member.leases.leave()
      const next = join(cluster, [1])
      expect(lease.mayStart(), 'no attempt starts while the work ends').toBe(false)
      const deadline = performance.now() + LEASE_MS * 1.5
      await expect.poll(() => performance.now(), { timeout: LEASE_MS * 3, interval: 100 }).toBeGreaterThan(deadline)
      expect([next.work.running.size, lease.signal.aborted]).toEqual([0, false])
      expect(await cluster.write([lease], 'the last outcome')).toEqual([])
      end()
      await leaving
      await expect.poll(() => [...next.work.epochs()]).toEqual([[1, lease.epoch + 1]])
      await next.leases.leave()
    })

    test('a write under a lost lease writes nothing, and names the lost ones; the rest can be written', async () => {
      await using cluster = await makeCluster()
      const [one, other] = [join(cluster, [1, 2, 3, 4]), join(cluster, [1, 2, 3, 4])]
      await expect.poll(() => sizes([one, other])).toEqual([2, 2])
      const [kept, lost] = one.leases.held('shard')
      const outdated = { kind: 'shard', number: lost!.number, epoch: lost!.epoch - 1 }
      expect(await cluster.write([kept!, outdated], 'both')).toEqual([outdated])
      expect(await cluster.write([kept!], 'the rest')).toEqual([])
      expect(await cluster.written()).toEqual(['the rest'])
      one.leases.refused([outdated])
      expect(one.leases.counts(), 'of another epoch').toEqual({ lost: 0, fenced: 0 })
      one.leases.refused([lost!])
      expect(one.leases.counts()).toEqual({ lost: 1, fenced: 1 })
      expect([lost!.signal.aborted, lost!.mayStart(), kept!.mayStart()]).toEqual([true, false, true])
      await Promise.all([one.leases.leave(), other.leases.leave()])
    })

    test('a lease cannot be claimed while a transaction that locked it is open', async () => {
      await using cluster = await makeCluster()
      const holder = join(cluster, [1])
      await expect.poll(() => holder.work.running.size).toBe(1)
      const lease = holder.work.running.get(1)!
      const next = join(cluster, [1])
      await cluster.write([lease], 'before', async () => {
        // Gives the lease back although the transaction is open, which no owner does.
        await holder.leases.leave()
        const until = performance.now() + 1_200
        await expect.poll(() => performance.now(), { interval: 100 }).toBeGreaterThan(until)
        expect(next.work.running.size).toBe(0)
      })
      await expect.poll(() => next.work.running.size).toBe(1)
      expect(await cluster.write([lease], 'after')).toEqual([lease])
      expect(await cluster.written()).toEqual(['before'])
      await next.leases.leave()
    })

    test('a single task has one holder; another member takes it over', async () => {
      await using cluster = await makeCluster()
      const members = [1, 2, 3].map(() => join(cluster, [0], new RecordedWork('budget')))
      await expect.poll(() => sizes(members)).toEqual([1, 0, 0])
      const holder = members.find(({ work }) => work.running.size === 1)!
      await holder.leases.leave()
      await expect.poll(() => sizes(members)).toEqual([1, 0, 0])
      expect(holder.work.running.size).toBe(0)
      await Promise.all(members.map(({ leases }) => leases.leave()))
    })

    test('when the numbers change, new ones are claimed and removed ones given back', async () => {
      await using cluster = await makeCluster()
      const { leases, work } = join(cluster, [1, 2])
      await expect.poll(() => [...work.running.keys()]).toEqual([1, 2])
      leases.share(work, [2, 3])
      await expect.poll(() => [...work.running.keys()]).toEqual([2, 3])
      expect(work.aborted).toEqual([])
      await leases.leave()
    })

    test('work that cannot start gives its lease back, and is tried again', async () => {
      await using cluster = await makeCluster()
      const work = new RecordedWork()
      let attempts = 0
      work.onStart = async () => {
        if (++attempts < 3) throw new Error('positions cannot be read')
      }
      const { leases } = join(cluster, [1], work)
      await expect.poll(() => work.running.get(1)?.epoch).toBe(3)
      await leases.leave()
    })
  })
}

const EIGHT = [0, 1, 2, 3, 4, 5, 6, 7]
