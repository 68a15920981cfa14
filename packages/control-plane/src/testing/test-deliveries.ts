import type { Deliveries, DeliveryScope, RuleCountAsked, RuleCounted } from '../workspace/deliveries.ts'
import type { Snapshot } from '../workspace/snapshot.ts'

/** Returns the configured counts of waiting events, and records the changes that it is told. */
export class TestDeliveries implements Deliveries {
  readonly heard: string[] = []
  waitingEvents = 0

  async waiting(_scope: DeliveryScope): Promise<number> {
    return this.waitingEvents
  }

  async countByRules({ rules, from }: RuleCountAsked): Promise<RuleCounted> {
    return { decided: [7, ...rules.list.map((_, i) => i + 1)], isComplete: true, countedFrom: from }
  }

  changed(before: Snapshot, after: Snapshot): void {
    this.heard.push(`changed ${before.revision} to ${after.revision}`)
  }
}
