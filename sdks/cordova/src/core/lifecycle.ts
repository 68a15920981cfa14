import type { Launch, Marker } from './bridge.ts'
import type { JsonObject } from './plain-json.ts'

/*
 * The one machine that decides which lifecycle events there are (contracts/cordova-sdk.md §10):
 *
 *   cold ──ready, in foreground: Installed or Updated if due, Opened(false)──▶ foreground
 *   cold ──ready, in background──▶ hidden ──start: Installed or Updated if due, Opened(false)──▶ foreground
 *   foreground ──stop: Backgrounded──▶ background ──start: Opened(true)──▶ foreground
 *
 * Everything else changes nothing.
 */

export type LifecycleState = 'cold' | 'hidden' | 'foreground' | 'background'

export type LifecycleInput =
  | { readonly kind: 'ready'; readonly isForeground: boolean }
  | { readonly kind: 'start' | 'stop' }

export type Emission = 'install' | 'opened' | 'reopened' | 'backgrounded'

export function lifecycleStep(
  state: LifecycleState,
  input: LifecycleInput,
): { next: LifecycleState; emits: readonly Emission[] } {
  const stays = { next: state, emits: [] }
  switch (state) {
    case 'cold':
      if (input.kind !== 'ready') return stays
      return input.isForeground ? { next: 'foreground', emits: ['install', 'opened'] } : { next: 'hidden', emits: [] }
    case 'hidden':
      return input.kind === 'start' ? { next: 'foreground', emits: ['install', 'opened'] } : stays
    case 'foreground':
      return input.kind === 'stop' ? { next: 'background', emits: ['backgrounded'] } : stays
    case 'background':
      return input.kind === 'start' ? { next: 'foreground', emits: ['reopened'] } : stays
  }
}

export interface LifecycleEvent {
  readonly name: string
  readonly properties: JsonObject
  /** To be written once the event is stored. */
  readonly marker?: string
}

/** What is known of the app that runs. */
export type RunningApp = Pick<Launch, 'version' | 'build' | 'marker'>

/** @param url the link that opened the app, if known. */
export function lifecycleEvent(
  emission: Emission,
  app: RunningApp,
  url: string | undefined,
): LifecycleEvent | undefined {
  const link = url === undefined ? {} : { url }
  switch (emission) {
    case 'install':
      return installOrUpdate(app)
    case 'opened': {
      const version = app.version === undefined ? {} : { version: app.version }
      return { name: 'Application Opened', properties: { from_background: false, ...version, ...link } }
    }
    case 'reopened':
      return { name: 'Application Opened', properties: { from_background: true, ...link } }
    case 'backgrounded':
      return { name: BACKGROUNDED, properties: {} }
  }
}

export const BACKGROUNDED = 'Application Backgrounded'

export function markerText(app: RunningApp): string {
  return JSON.stringify(versionAndBuild(app))
}

function installOrUpdate(app: RunningApp): LifecycleEvent | undefined {
  const now = versionAndBuild(app)
  const marker = markerText(app)
  if (app.marker === null) return { name: 'Application Installed', properties: now, marker }
  const isKnown = app.version !== undefined || app.build !== undefined
  if (!isKnown || marker === markerText({ ...app.marker, marker: null })) return undefined
  const previous = {
    ...(app.marker.version !== undefined && { previous_version: app.marker.version }),
    ...(app.marker.build !== undefined && { previous_build: app.marker.build }),
  }
  return { name: 'Application Updated', properties: { ...previous, ...now }, marker }
}

function versionAndBuild({ version, build }: Marker): Marker & JsonObject {
  return { ...(version !== undefined && { version }), ...(build !== undefined && { build }) }
}
