import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { EngineSettings } from '../core/bridge.ts'

/* The shapes of conformance/*.json; what each step means stands in BRIDGE.md "Scenarios". */

export interface ScenarioFile {
  readonly name: string
  readonly scenarios: readonly Scenario[]
}

export interface Scenario {
  readonly name: string
  readonly open?: object
  readonly random?: number
  readonly steps: readonly Step[]
}

export type Rows = readonly (string | { readonly event: string; readonly bytes: number })[] | Range

export interface Range {
  readonly from: number
  readonly to: number
}

export interface ScriptedAnswer {
  readonly status?: number
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
  readonly lost?: true
}

export interface ServerScript {
  readonly answers?: readonly ScriptedAnswer[]
  readonly always?: ScriptedAnswer
  readonly poison?: { readonly events: readonly string[]; readonly status: number; readonly index: boolean }
  readonly config?: ScriptedAnswer
}

export interface ExpectedBatch {
  readonly events: readonly string[] | Range
  readonly gzip?: boolean
  readonly writeKey?: string
  readonly anonymousId?: string | null
  readonly attempt?: 'exit' | 'first' | 'repeat'
}

type Expecting = { readonly expect?: unknown }

export type Step =
  | ({ readonly do: 'open'; readonly settings?: object } & Expecting)
  | ({ readonly do: 'push'; readonly rows: Rows; readonly state?: Record<string, string | null> } & Expecting)
  | ({ readonly do: 'state'; readonly set: Record<string, string | null> } & Expecting)
  | { readonly do: 'tail'; readonly event: string | null }
  | { readonly do: 'purge'; readonly what: 'events' | 'all' }
  | ({ readonly do: 'drain'; readonly force?: boolean } & Expecting)
  | ({ readonly do: 'config'; readonly etag?: string } & Expecting)
  | ({ readonly do: 'server' } & ServerScript)
  | { readonly do: 'advance' | 'clock'; readonly ms: number }
  | { readonly do: 'network'; readonly online: boolean }
  | { readonly do: 'stop' | 'start' | 'kill' }
  | { readonly do: 'delete'; readonly store?: true; readonly guard?: true }
  | { readonly do: 'fault'; readonly storage: string | null }
  | { readonly do: 'rows'; readonly events: readonly string[] | Range }
  | { readonly do: 'values'; readonly state: Record<string, string | null> }
  | { readonly do: 'requests'; readonly batches: readonly ExpectedBatch[] }
  | { readonly do: 'signals'; readonly kinds: readonly string[] }

/** Of a scenario that says nothing else. @param url of both planes. */
export function standardSettings(url: string): EngineSettings {
  return {
    writeKey: 'wk-1',
    dataPlaneUrl: url,
    controlPlaneUrl: url,
    flushQueueSize: 30,
    dbThresholdCount: 10_000,
    gzip: false,
    logLevel: 5,
    collectDeviceId: false,
    requireConsent: false,
    sdkVersion: '1.4.0',
  }
}

/** The files that every engine has to pass, or those of `conformance/sqlite`, for the engines on SQLite. */
export function scenarioFiles(under: '' | 'sqlite' = ''): readonly ScenarioFile[] {
  const folder = join(import.meta.dirname, '../../conformance', under)
  return readdirSync(folder)
    .filter((name) => name.endsWith('.json'))
    .map((name) => JSON.parse(readFileSync(join(folder, name), 'utf8')))
}

export function namesOf(events: readonly string[] | Range): readonly string[] {
  return 'from' in events
    ? Array.from({ length: events.to - events.from + 1 }, (_, at) => `e${events.from + at}`)
    : events
}

/** The body of a row, as long as it is to be. */
export function bodyOf(row: string | { readonly event: string; readonly bytes: number }): string {
  const event = typeof row === 'string' ? row : row.event
  const text = `{"messageId":"${event}","originalTimestamp":"2026-11-20T09:30:00.000Z","type":"track","event":"${event}"`
  if (typeof row === 'string') return `${text}}`
  const padding = row.bytes - `${text},"properties":{"pad":""}}`.length
  return `${text},"properties":{"pad":"${'x'.repeat(padding)}"}}`
}
