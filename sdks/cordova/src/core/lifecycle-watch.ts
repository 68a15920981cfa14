import type { EventCall } from './call.ts'
import {
  type LifecycleInput,
  type LifecycleState,
  lifecycleEvent,
  lifecycleStep,
  markerText,
  type RunningApp,
} from './lifecycle.ts'

/** Follows the app between foreground and background, and makes the lifecycle events of it. */
export class LifecycleWatch {
  readonly app: RunningApp
  private readonly isWanted: boolean
  private readonly now: () => number
  private state: LifecycleState = 'cold'
  private isForeground: boolean
  /** Of the start of the app. */
  private readonly url: string | undefined

  /** @param isWanted trackLifecycleEvents: without it there are no events, and the machine runs all the same. */
  constructor(
    app: RunningApp,
    launch: { readonly foreground: boolean; readonly url?: string },
    isWanted: boolean,
    now: () => number,
  ) {
    this.app = app
    this.isForeground = launch.foreground
    this.url = launch.url
    this.isWanted = isWanted
    this.now = now
  }

  get isCold(): boolean {
    return this.state === 'cold'
  }

  /** The engine is to store the event of the next stop. */
  get wantsTail(): boolean {
    return this.isWanted && this.state === 'foreground'
  }

  /** The marker, when it becomes true without an event that carries it. */
  get ownMarker(): string | undefined {
    return this.isWanted ? undefined : markerText(this.app)
  }

  ready(): EventCall[] {
    return this.step({ kind: 'ready', isForeground: this.isForeground }, this.url)
  }

  start(url: string | undefined): EventCall[] {
    this.isForeground = true
    return this.step({ kind: 'start' }, url)
  }

  stop(): EventCall[] {
    this.isForeground = false
    return this.step({ kind: 'stop' }, undefined)
  }

  private step(input: LifecycleInput, url: string | undefined): EventCall[] {
    const { next, emits } = lifecycleStep(this.state, input)
    this.state = next
    const calls: EventCall[] = []
    if (!this.isWanted) return calls
    for (const emission of emits) {
      const event = lifecycleEvent(emission, this.app, url)
      if (!event) continue
      const { name, properties, marker } = event
      calls.push({ kind: 'track', name, properties, at: this.now(), options: {}, origin: { lifecycle: true, marker } })
    }
    return calls
  }
}
