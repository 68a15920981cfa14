import type { DestinationResult } from '@millrace/api-types'
import type { JsonObject } from '@millrace/protocol/json'
import { useEffect, useMemo, useState } from 'react'
import { type StageFlags, useTestDestination, useTestSource } from '../../api/test-api.ts'
import { useMessageOrigins, useNamedMessage } from '../../components/message-origin/use-message-origins.ts'
import { useSearchValues } from '../../shell/search-values.ts'
import { benchSearch } from './bench-search.ts'
import { type BenchTarget, needsForce, targetOf, type Workspace } from './bench-target.ts'
import { readMessage } from './message-text.ts'

/** The result of a run, with its inputs. */
export interface BenchRun {
  readonly results: readonly DestinationResult[]
  readonly stage: StageFlags
  readonly message: JsonObject
  /** Key of all inputs: other inputs make a new run. */
  readonly asked: string
}

export type Bench = ReturnType<typeof useBench>

/** Message for a user who has sent no event yet. */
const EXAMPLE = { type: 'track', userId: 'u-4711', event: 'Seat Reserved', properties: { hall: 'B', seats: 2 } }
const NO_OVERRIDE: JsonObject = {}

/** The inputs and result of a run. The link holds choices; payloads and the sending switch last for this visit only. */
export function useBench(workspace: Workspace) {
  const [search, set] = useSearchValues(benchSearch)
  const target = targetOf(workspace, search)
  const origins = useMessageOrigins({ ...originsOf(target, workspace), isEnabled: target !== undefined })
  const named = useNamedMessage(search)
  const isNamed = search.event !== undefined || search.dead !== undefined || search.sample !== undefined
  const newest = origins.recent[0]?.messageId
  useEffect(() => {
    if (!isNamed && newest !== undefined) set({ event: newest })
  }, [isNamed, newest, set])
  const [written, write] = useState<string>()
  const [isSending, send] = useState(false)
  const [override, setOverride] = useState(NO_OVERRIDE)
  const [run, setRun] = useState<BenchRun>()
  const ofDestination = useTestDestination()
  const ofSource = useTestSource()

  const stages = search.stages ?? ['user', 'dest']
  const stage: StageFlags = {
    user_transform: stages.includes('user'),
    dest_transform: stages.includes('dest'),
    send_to_destination: isSending,
  }
  const force = search.force === undefined ? target !== undefined && needsForce(target) : search.force === '1'
  const shown = named ?? (origins.isEmpty ? EXAMPLE : undefined)
  const text = written ?? (shown === undefined ? '' : JSON.stringify(shown, null, 2))
  const read = useMemo(() => readMessage(text), [text])
  const message = 'message' in read ? read.message : undefined
  const hasOverride = target?.kind === 'destination' && Object.keys(override).length > 0
  const body = { stage, message: message ?? {}, ...(hasOverride ? { destinationConfig: override } : {}) }
  const asked = JSON.stringify([target?.id, force, body])

  const choose = (kind: 'destination' | 'source', id: string) => {
    // The target changed: the user must enable sending again.
    send(false)
    setOverride(NO_OVERRIDE)
    setRun(undefined)
    ofDestination.reset()
    ofSource.reset()
    set({ destination: undefined, source: undefined, force: undefined, [kind]: id }, 'push')
  }
  const start = async () => {
    if (target === undefined || message === undefined) return
    ofDestination.reset()
    ofSource.reset()
    const { id, kind } = target
    const results =
      kind === 'source'
        ? ofSource.mutateAsync({ id, force, ...body }).then(({ body }) => body)
        : ofDestination.mutateAsync({ id, force, ...body }).then(({ body }) => [body])
    // The error is shown above the panes.
    const made = await results.catch(() => undefined)
    setRun(made && { results: made, stage, message, asked })
  }

  return {
    search,
    set,
    target,
    choose,
    origins,
    /** The link names a message whose payload is gone. */
    isGone: named === null,
    text,
    write,
    read,
    message,
    stage,
    setStages: (user: boolean, dest: boolean) => {
      const words = [...(user ? (['user'] as const) : []), ...(dest ? (['dest'] as const) : [])]
      set({ stages: words.length === 2 ? undefined : words.length === 0 ? ['none'] : words })
    },
    send,
    force,
    override,
    hasOverride,
    setOverride,
    body,
    start,
    run,
    /** The inputs have changed since the run. */
    isOld: run !== undefined && run.asked !== asked,
    isRunning: ofDestination.isPending || ofSource.isPending,
    error: ofDestination.error ?? ofSource.error,
  }
}

function originsOf(target: BenchTarget | undefined, { connections }: Workspace) {
  if (target?.kind === 'source') return { sourceId: target.id, writeKey: target.source.writeKey }
  const id = target?.id ?? ''
  return { destinationId: id, feedingSourceId: connections.find((each) => each.destinationId === id)?.sourceId }
}
