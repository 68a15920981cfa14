import { MemoryEventLog } from '@millrace/log'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { HOUR, PipelineUnderTest, SECOND } from './testing/pipeline-under-test.ts'
import type { Arrival, SinkAnswer } from './testing/sink.ts'
import { track } from './testing/test-events.ts'

const RUNS = Number(process.env['MODEL_RUNS'] ?? 6)
const SEED = process.env['MODEL_SEED'] === undefined ? undefined : Number(process.env['MODEL_SEED'])
const FINAL = /^(delivered|filtered: .*|dead_lettered: .*)$/

/** What the destination does with one attempt. */
const answers = fc.constantFrom<SinkAnswer>(200, 200, 200, 200, 500, 503, 429, 400, 'reset', 'hang')

const steps = fc.array(
  fc.oneof(
    {
      weight: 6,
      arbitrary: fc.record({
        kind: fc.constant('accept' as const),
        source: fc.constantFrom('s1', 's2'),
        events: fc.array(
          fc.record({
            user: fc.constantFrom('', 'u1', 'u2'),
            anonymous: fc.constantFrom('', 'x1', 'x2'),
            answers: fc.array(answers, { maxLength: 3 }),
          }),
          { minLength: 1, maxLength: 8 },
        ),
      }),
    },
    { weight: 2, arbitrary: fc.record({ kind: fc.constant('wait' as const), seconds: fc.constantFrom(1, 12, 40) }) },
    { weight: 1, arbitrary: fc.constant({ kind: 'restart' as const }) },
    { weight: 1, arbitrary: fc.constant({ kind: 'crash' as const }) },
  ),
  { minLength: 3, maxLength: 25 },
)

test('whatever the destination answers and whenever the process ends, every event has one outcome and users their order', async () => {
  await fc.assert(
    fc.asyncProperty(steps, fc.constantFrom(1, 2), async (script, partitions) => {
      const behaviours = new Map<string, SinkAnswer[]>()
      const attempts = new Map<string, number>()
      const finished: string[] = []
      const answer = ({ event }: Arrival): SinkAnswer => {
        const n = attempts.get(event.messageId) ?? 0
        attempts.set(event.messageId, n + 1)
        const chosen = behaviours.get(event.messageId)?.[n] ?? 200
        if (chosen === 200 || chosen === 400) finished.push(event.messageId)
        return chosen
      }
      const { run, sink } = await PipelineUnderTest.withSink(answer, {
        log: new MemoryEventLog(partitions),
        sources: ['s1', 's2'],
      })
      await using _ = run
      const accepted: { id: string; source: string; user: string; anonymous: string }[] = []
      for (const step of script) {
        switch (step.kind) {
          case 'accept': {
            const events = step.events.map(({ user, anonymous, answers: chosen }) => {
              const id = `m-${accepted.length}`
              accepted.push({ id, source: step.source, user, anonymous })
              behaviours.set(id, chosen)
              return track(id, user, { anonymousId: anonymous })
            })
            await run.accept(events, { source: step.source })
            await run.settle()
            break
          }
          case 'wait':
            await run.advance(step.seconds * SECOND)
            break
          case 'restart':
            await run.restart()
            break
          case 'crash':
            await run.crash()
            break
        }
      }
      await run.advance(HOUR)

      for (const { id } of accepted) {
        expect(await run.outcome(id), id).toMatch(FINAL)
        expect(attempts.get(id), `${id} is sent at least once`).toBeGreaterThan(0)
      }
      expect(await run.delivery.waiting({})).toBe((await run.deadLetters()).length)
      // An event is first finished only after every earlier one of the same user is.
      const firstFinished = new Map<string, number>()
      for (const [i, id] of finished.entries()) if (!firstFinished.has(id)) firstFinished.set(id, i)
      const firstArrival = new Map<string, number>()
      for (const [i, id] of sink.messageIds.entries()) if (!firstArrival.has(id)) firstArrival.set(id, i)
      for (const [i, earlier] of accepted.entries()) {
        for (const later of accepted.slice(i + 1)) {
          if (earlier.source !== later.source) continue
          const isSameUser = earlier.user !== '' && earlier.user === later.user
          const isSameDevice = earlier.anonymous !== '' && earlier.anonymous === later.anonymous
          if (!isSameUser && !isSameDevice) continue
          expect(firstArrival.get(earlier.id), `${earlier.id} before ${later.id}`).toBeLessThan(
            firstArrival.get(later.id)!,
          )
          const [first, second] = [firstFinished.get(earlier.id), firstFinished.get(later.id)]
          if (first !== undefined && second !== undefined) expect(first).toBeLessThan(second)
        }
      }
    }),
    { numRuns: RUNS, ...(SEED === undefined ? {} : { seed: SEED }), verbose: 1 },
  )
}, 120_000)
