import { EventList, type EventListOptions, type EventPage, type RuleCount } from '../events/event-list.ts'
import type { ClusterLog } from './cluster-log.ts'

/** The list of events over a log that other processes append to: each look begins where the log ends now. */
export class ClusterEventList extends EventList {
  readonly #log: ClusterLog

  constructor(options: EventListOptions & { readonly log: ClusterLog }) {
    super(options)
    this.#log = options.log
  }

  override async list(...asked: Parameters<EventList['list']>): Promise<EventPage> {
    await this.#log.readEnds()
    return super.list(...asked)
  }

  override async count(...asked: Parameters<EventList['count']>): Promise<RuleCount> {
    await this.#log.readEnds()
    return super.count(...asked)
  }
}
