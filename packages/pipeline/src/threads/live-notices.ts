import type { RecordHeader, StoredEvent } from '@millrace/protocol'
import type { Clock, Timer } from '@millrace/std'
import type { LiveResult, LiveSink } from '../events/live-view.ts'
import type { LiveNotice } from './shard-calls.ts'

const SEND_MS = 50
/** More than this between two sends are only counted: a live view must not slow down delivery. */
const MAX_TOGETHER = 200

/** The live view's end in a delivery thread: collects what happens, and sends it together. */
export class LiveNotices implements LiveSink {
  isWatched = false
  readonly #clock: Clock
  readonly #send: (notices: readonly LiveNotice[], skipped: number) => void
  #notices: LiveNotice[] = []
  #skipped = 0
  #timer: Timer | undefined

  constructor(clock: Clock, send: (notices: readonly LiveNotice[], skipped: number) => void) {
    this.#clock = clock
    this.#send = send
  }

  accepted(header: RecordHeader, events: () => readonly StoredEvent[]): void {
    this.#add(() => ({ kind: 'accepted', header, events: events() }))
  }

  outcome(event: StoredEvent, sourceId: string, result: LiveResult): void {
    this.#add(() => ({ kind: 'outcome', event, sourceId, result }))
  }

  #add(notice: () => LiveNotice): void {
    if (this.#notices.length < MAX_TOGETHER) this.#notices.push(notice())
    else this.#skipped++
    this.#timer ??= this.#clock.setTimer(() => {
      this.#timer = undefined
      this.#send(this.#notices, this.#skipped)
      this.#notices = []
      this.#skipped = 0
    }, SEND_MS)
  }
}
