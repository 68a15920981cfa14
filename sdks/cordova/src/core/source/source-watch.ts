import type { Bridge } from '../bridge.ts'
import type { Status } from '../calls/results.ts'
import { type Clock, isoTime } from '../clock.ts'
import { parsedObject } from '../text/parsed-json.ts'
import type { Configuration } from './configuration.ts'

/** What is kept of the last good source configuration, as JSON under the state key `source`. */
export interface SourceCopy {
  /** Write key and control plane of the fetch: it says nothing of another source. */
  readonly of: string
  readonly enabled: boolean
  readonly etag?: string | undefined
  /** ISO time at which it was last confirmed. */
  readonly at: string
}

const HOUR_MS = 3_600_000
const WAITS_MS = [2_000, 4_000]

export type SourceWatch = ReturnType<typeof watchSource>

/**
 * Fetches the configuration of the source, and again every configRefreshInterval hours.
 *
 * @see contracts/cordova-sdk.md §17
 */
export function watchSource(
  bridge: Bridge,
  clock: Clock,
  { configRefreshInterval, writeKey, controlPlaneUrl }: Configuration,
  onCopy: (copy: SourceCopy) => void,
  onRejected: (status: number) => void,
  onFault: (error: unknown) => void,
) {
  /** Empty without one. */
  let copy: Partial<SourceCopy> = {}
  let from: Status['config']['source'] = 'none'
  let cancelTimer = () => {}
  const refreshMs = configRefreshInterval * HOUR_MS
  const of = `${writeKey} ${controlPlaneUrl}`
  /** Counts starts and stops, so that an answer of before does nothing after. */
  let era = 0

  const take = (enabled: boolean, etag: string | undefined) => {
    const taken = { of, enabled, etag, at: isoTime(clock.now()) }
    copy = taken
    from = 'network'
    onCopy(taken)
  }

  const fetch = async (failures: number, its: number): Promise<void> => {
    const { status, etag, body } = await bridge.config({ etag: copy.etag })
    if (its !== era) return
    const isWorthAnotherTry = status >= 500 || [0, 408, 429].includes(status)
    const waitMs = isWorthAnotherTry && WAITS_MS[failures]
    again(waitMs || refreshMs, waitMs ? failures + 1 : 0)
    if (status === 304 && copy.at) take(copy.enabled !== false, copy.etag)
    const enabled = status === 200 ? isEnabled(body) : undefined
    if (enabled !== undefined) take(enabled, etag)
    if (status === 400 || status === 401) onRejected(status)
  }

  const ask = (failures: number) =>
    void fetch(failures, era).catch((error) => {
      onFault(error)
      again(refreshMs, 0)
    })

  const again = (delayMs: number, failures: number) => {
    cancelTimer = clock.after(delayMs, () => ask(failures))
  }

  const stop = () => {
    era++
    cancelTimer()
  }

  return {
    /** The copy of an earlier run. One of another source is deleted, because the engine obeys it as well. */
    load(stored: string | undefined) {
      const kept = parsedObject(stored)
      if (kept['of'] === of) {
        copy = kept
        from = 'cache'
      } else if (stored) bridge.state({ source: null }).catch(onFault)
    },
    /** Without a copy it counts as enabled. */
    isEnabled: () => copy.enabled !== false,
    status: () => ({ source: from, at: copy.at }),
    /** Fetches now and goes on. */
    begin() {
      stop()
      ask(0)
    },
    stop,
  }
}

/** undefined: unusable, the copy stays. Anything but `"enabled": false` in a JSON object counts as enabled. */
export function isEnabled(body: string | undefined): boolean | undefined {
  const answer = parsedObject(body, null)
  if (!answer) return undefined
  const { enabled } = answer['source'] || {}
  return enabled !== false
}
