import type { JsonObject } from '@millrace/protocol'
import { type Clock, systemClock } from '@millrace/std'
import type { LibraryCode, TransformationCode } from './code.ts'
import type { TransformFetch } from './fetch.ts'
import { Sandboxes, type SandboxesOptions } from './host/sandboxes.ts'
import { DEFAULT_LIMITS, type TransformationLimits } from './limits.ts'
import type { EventResult, Run, RunResult } from './run.ts'

const opened: Sandboxes[] = []

export function open(
  options: {
    limits?: Partial<TransformationLimits>
    fetch?: TransformFetch
    clock?: Clock
    logger?: Partial<SandboxesOptions['logger']>
    program?: string
  } = {},
): Sandboxes {
  const transformations = new Sandboxes({
    limits: { ...DEFAULT_LIMITS, ...options.limits },
    fetch: options.fetch,
    clock: options.clock ?? systemClock,
    logger: { info() {}, warn() {}, error() {}, ...options.logger },
    ...(options.program === undefined ? {} : { program: options.program }),
  })
  opened.push(transformations)
  return transformations
}

export async function closeAll(): Promise<void> {
  await Promise.all(opened.splice(0).map((transformations) => transformations.close()))
}

let versions = 0

/** A version that no other test has. */
export function version(code: string, more: Partial<TransformationCode> = {}): TransformationCode {
  const number = ++versions
  return {
    transformationId: `t${number}`,
    versionId: `v${number}`,
    language: 'javascript',
    code,
    libraries: [],
    ...more,
  }
}

export function library(
  importName: string,
  code: string,
  language: LibraryCode['language'] = 'javascript',
): LibraryCode {
  return { importName, versionId: `l${++versions}`, language, code }
}

/** Events m-0, m-1, … with these properties. */
export function events(...properties: JsonObject[]): Run['events'] {
  return properties.map((each, at) => ({
    event: { type: 'track', messageId: `m-${at}`, properties: each },
    metadata: { sourceId: 's-1', sourceName: 'Shop', destinationId: 'd-1' },
    jobId: String(at),
  }))
}

export function runOf(steps: readonly TransformationCode[], more: Partial<Run> = {}): Run {
  return {
    key: 'd-1',
    steps,
    events: events({ n: 0 }),
    mode: 'live',
    credentials: new Map(),
    captureLogs: false,
    ...more,
  }
}

/** Runs code as the only step. */
export function runCode(transformations: Sandboxes, code: string, more: Partial<Run> = {}): Promise<RunResult> {
  return transformations.run(runOf([version(code)], more))
}

/** A result in few words: output events, `dropped`, or the failure text. */
export function essence(result: EventResult): JsonObject[] | string {
  if ('error' in result) return result.error
  return 'dropped' in result ? 'dropped' : [...result.events]
}

export function essences({ results }: RunResult): (JsonObject[] | string)[] {
  return results.map(essence)
}
