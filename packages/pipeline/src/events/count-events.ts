import { framedRecords } from '@millrace/log/frames'
import { CompiledRules, eventCount } from '@millrace/protocol'
import { readableEvents } from '../reading/readable-events.ts'
import type { CountRequest, CountStep } from './search-calls.ts'

/** Counts what each rule decides among the events of some records. A duplicate went nowhere and does not count. */
export function countEvents({ frames, sourceId, rules, from, to }: CountRequest): CountStep {
  const compiled = new CompiledRules(rules)
  const decided: number[] = Array(rules.list.length + 1).fill(0)
  let looked = 0
  let oldestAt: number | undefined
  for (const record of framedRecords(frames)) {
    const { header, duplicates } = record
    oldestAt = Math.min(oldestAt ?? header.acceptedAt, header.acceptedAt)
    looked += eventCount(header)
    if (header.sourceId !== sourceId || header.acceptedAt < from || header.acceptedAt >= to) continue
    for (const [index, event] of readableEvents(record).entries()) {
      if (!duplicates?.has(index)) decided[compiled.match(event)]!++
    }
  }
  return { looked, decided, oldestAt }
}
