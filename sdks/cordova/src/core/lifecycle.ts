import type { Launch, Marker } from './bridge.ts'
import type { JsonObject } from './text/plain-json.ts'

export type LifecycleState = 'cold' | 'hidden' | 'foreground' | 'background'

/** ready-hidden: in the background. */
export type LifecycleInput = 'ready' | 'ready-hidden' | 'start' | 'stop'

export type Emission = 'install' | 'opened' | 'reopened' | 'backgrounded'

export interface LifecycleStep {
  readonly becomes: LifecycleState
  readonly emits: readonly Emission[]
}

const FIRST_OPENED = 'foreground install opened'

/** The one machine that decides which lifecycle events there are: the next state, and the events. What is not here changes nothing. */
const STEPS: Readonly<Record<string, string>> = {
  'cold ready': FIRST_OPENED,
  'cold ready-hidden': 'hidden',
  'hidden start': FIRST_OPENED,
  'foreground stop': 'background backgrounded',
  'background start': 'foreground reopened',
}

/** @see contracts/cordova-sdk.md §10 */
export function lifecycleStep(state: LifecycleState, input: LifecycleInput): LifecycleStep {
  const [becomes, ...emits] = (STEPS[`${state} ${input}`] || state).split(' ')
  return { becomes, emits } as LifecycleStep
}

export interface LifecycleEvent {
  readonly name: string
  /** Its properties. */
  readonly payload: JsonObject
  /** To be written once the event is stored. */
  readonly marker?: string
}

/** What is known of the app that runs. */
export type RunningApp = Pick<Launch, 'version' | 'build' | 'marker'>

export const BACKGROUNDED = 'Application Backgrounded'

/** @param url the link that opened the app, if known. */
export function lifecycleEvent(
  emission: Emission,
  app: RunningApp,
  url: string | undefined,
): LifecycleEvent | undefined {
  if (emission === 'backgrounded') return { name: BACKGROUNDED, payload: {} }
  if (emission === 'install') return installOrUpdate(app)
  const isBack = emission === 'reopened'
  const payload = { from_background: isBack, version: isBack ? undefined : app.version, url }
  return { name: 'Application Opened', payload: payload as JsonObject }
}

export function markerText({ version, build }: Marker): string {
  return JSON.stringify({ version, build })
}

function installOrUpdate({ version, build, marker: before }: RunningApp): LifecycleEvent | undefined {
  const now = { version, build }
  const marker = markerText(now)
  if (!before) return { name: 'Application Installed', payload: now as JsonObject, marker }
  if (marker === '{}' || marker === markerText(before)) return undefined
  const payload = { previous_version: before.version, previous_build: before.build, version, build }
  return { name: 'Application Updated', payload: payload as JsonObject, marker }
}
