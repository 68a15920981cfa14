import type { Launch } from './bridge.ts'
import type { EventCall } from './calls/call.ts'
import type { Clock } from './clock.ts'
import {
  type LifecycleInput,
  type LifecycleState,
  lifecycleEvent,
  lifecycleStep,
  markerText,
  type RunningApp,
} from './lifecycle.ts'
import type { Configuration } from './source/configuration.ts'

export type LifecycleWatch = ReturnType<typeof watchLifecycle>

/** Follows the app between foreground and background, and makes the lifecycle events of it. */
export function watchLifecycle(configuration: Configuration, launch: Launch, clock: Clock) {
  // A page does not know its app, and is told by the option.
  const { app: told = {}, trackLifecycleEvents: isWanted } = configuration
  const { version = told.version, build = told.build, marker } = launch
  const app: RunningApp = { version, build, marker }
  // After a reload of the page the app is open as before.
  let state: LifecycleState = launch.opened ? 'foreground' : 'cold'
  let isForeground = launch.foreground

  const step = (input: LifecycleInput, url?: string): EventCall[] => {
    const { becomes, emits } = lifecycleStep(state, input)
    state = becomes
    const calls: EventCall[] = []
    for (const emission of isWanted ? emits : []) {
      const event = lifecycleEvent(emission, app, url)
      if (!event) continue
      const { name, payload, marker } = event
      calls.push({ kind: 'track', name, payload, at: clock.now(), callOptions: {}, origin: { marker } })
    }
    return calls
  }

  return {
    marker: markerText(app),
    /** Without it there are no events, and the machine runs all the same. */
    isWanted,
    /** The engine is to store the event of the next stop. */
    wantsTail: () => isWanted && state === 'foreground',
    ready: () => step(isForeground ? 'ready' : 'ready-hidden', launch.url),
    entered(url: string | undefined) {
      isForeground = true
      return step('start', url)
    },
    left() {
      isForeground = false
      return step('stop')
    },
  }
}
