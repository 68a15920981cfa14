import { parentPort, workerData } from 'node:worker_threads'
import { openSharedLimits } from '../shared-limits.ts'
import { type HammerData, type LaneThreadData, SharedFacts } from './lane-thread-calls.ts'

/* A thread that takes and returns calls and places as fast as it can, `rounds` times, from when its team is complete. */

const { limits, thread, settings, facts: memory, rounds, team } = workerData as LaneThreadData & HammerData
const facts = new SharedFacts(memory)
const lane = openSharedLimits(limits, thread).join(settings, () => {}, 0)
facts.join(team)
for (let round = 0; round < rounds; round++) {
  let taken = 0
  while (taken < 3 && lane.takeCall(false)) {
    facts.began()
    taken++
  }
  lane.takeThrottle(false, round)
  lane.note(
    { sign: round % 2 === 0 ? 'good' : 'failed', isDelivered: round % 2 === 0, overloadedSince: undefined },
    round,
  )
  for (; taken > 0; taken--) {
    facts.ended()
    lane.returnCall(false)
  }
  lane.stopWaiting()
}
lane.close()
parentPort!.postMessage('done')
