import { ThreadCalls } from '@millrace/std'
import type { LimitSettings } from '../destination-limits.ts'
import { newSharedLimits } from '../shared-limits.ts'
import { type LaneThreadCalls, type LaneThreadData, SharedFacts } from './lane-thread-calls.ts'

/** Threads with a lane each, of one destination. Time passes as the test says, for all threads at once. */
export class LaneThreads implements AsyncDisposable {
  readonly limits = newSharedLimits()
  readonly facts = new SharedFacts()
  readonly threads: ThreadCalls<LaneThreadCalls>[]

  constructor(count: number, settings: Omit<LimitSettings, 'revision'>) {
    this.threads = Array.from({ length: count }, (_, thread) => {
      const shared = { limits: this.limits, facts: this.facts.memory }
      const data: LaneThreadData = { ...shared, thread, settings: { ...settings, revision: 1 } }
      return new ThreadCalls({ file: new URL('./lane-thread.ts', import.meta.url), name: `lane ${thread}`, data })
    })
  }

  /** Gives each lane so many events, at the same time. */
  async add(events: number): Promise<void> {
    await Promise.all(this.threads.map((thread) => thread.call('add', events)))
  }

  /** Lets time pass until `time`: always to the next moment at which a lane has something to do. */
  async runUntil(time: number): Promise<void> {
    for (;;) {
      const turns = await Promise.all(this.threads.map((thread) => thread.call('run', undefined)))
      // What one lane does may wake another one.
      if (turns.some(({ actions }) => actions > 0)) continue
      const next = Math.min(...turns.map((turn) => turn.next))
      if (next > time) break
      this.facts.time = Math.max(next, this.facts.time)
    }
    this.facts.time = time
  }

  async reports() {
    return await Promise.all(this.threads.map((thread) => thread.call('report', undefined)))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.threads.map((thread) => thread.stop()))
  }
}
