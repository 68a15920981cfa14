import { workerData } from 'node:worker_threads'
import { answerCalls, type Clock } from '@millrace/std'
import { Lane } from '../../lane/lane.ts'
import type { LaneClient } from '../../lane/lane-options.ts'
import { LocalMemoryBudget } from '../../lane/memory-budget.ts'
import { LaneEvent } from '../../lane/queue/lane-event.ts'
import { LaneOutcomes } from '../../store/outcomes/lane-outcomes.ts'
import { openSharedLimits } from '../shared-limits.ts'
import { type LaneThreadCalls, type LaneThreadData, SharedFacts } from './lane-thread-calls.ts'

/* A thread with one lane of a destination. The destination answers each call after 100 ms, with 200, or 500 if it is dead. */

const CALL_MS = 100
const { limits, thread, settings, facts: memory } = workerData as LaneThreadData
const facts = new SharedFacts(memory)
const timers = new Set<{ readonly due: number; readonly callback: () => void }>()
const sentAt: number[] = []
let actions = 0
let delivered = 0
let offset = 0

const clock: Clock = {
  now: () => facts.time,
  monotonic: () => facts.time,
  setTimer(callback, delayMs) {
    const timer = { due: facts.time + Math.max(0, delayMs), callback }
    timers.add(timer)
    return { cancel: () => timers.delete(timer) }
  },
}

const client: LaneClient = {
  send(_, onEnd) {
    actions++
    sentAt.push(facts.time)
    facts.began()
    clock.setTimer(() => {
      facts.ended()
      const status = facts.isDead ? 500 : 200
      const body = { headers: {}, text: `status ${status}`, bytes: Buffer.alloc(0), isCut: false }
      onEnd({ kind: 'answer', status, durationMs: CALL_MS, ...body })
    }, CALL_MS)
    return { abort: () => {} }
  },
  close: async () => {},
}

const quiet = { info: () => {}, warn: () => {}, error: (_: object, text: string) => Promise.reject(new Error(text)) }
const request = { method: 'POST', url: 'http://dead.example', headers: {}, body: undefined } as never
const shown = { method: 'POST', endpoint: 'http://dead.example', headers: {}, body: null } as never
const lane = new Lane({
  destinationId: 'd1',
  clock,
  random: () => 0,
  client,
  limits: openSharedLimits(limits, thread),
  outcomes: new LaneOutcomes('d1', () => {}),
  memory: new LocalMemoryBudget(1024 * 1024),
  settings: { ordering: 'none', keepAnswers: 'failed', batchEvents: 1, ...settings },
  transform: undefined,
  prepare: () =>
    ({ requests: [request], classify: undefined, show: () => shown, mask: (text: string) => text }) as never,
  load: async (events) => events.map(() => ({}) as never),
  loadHistories: async (events) => events.map(() => []),
  onRoom: () => {},
  onAttempt: () => {},
  onOutcome: (outcome) => {
    if (outcome === 'delivered') delivered++
  },
  onRetry: () => {},
  mask: (text) => text,
  logger: quiet,
})

answerCalls<LaneThreadCalls>({
  add(events) {
    for (let i = 0; i < events; i++) {
      const accepted = { sourceId: 's1', acceptedAt: facts.time, sizeBytes: 1, userKey: 0, anonymousKey: 0 }
      lane.add(new LaneEvent({ partition: 0, stream: 0, offset: offset++, index: 0 }, accepted, {} as never))
    }
    lane.pump()
  },
  async run() {
    const before = actions
    for (const timer of [...timers].sort((a, b) => a.due - b.due)) {
      if (timer.due > facts.time || !timers.delete(timer)) continue
      actions++
      timer.callback()
    }
    // Promises, and wakes by other threads.
    for (let turn = 0; turn < 3; turn++) await new Promise((resolve) => setImmediate(resolve))
    const next = Math.min(Number.POSITIVE_INFINITY, ...[...timers].map(({ due }) => due))
    return { next, actions: actions - before }
  },
  report: () => ({ sentAt, delivered }),
})
