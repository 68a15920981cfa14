import type { JsonObject } from '@millrace/protocol/json'
import { useState } from 'react'
import type { StageFlags } from '../../api/test-api.ts'
import { useSearchValues } from '../../shell/search-values.ts'
import { benchSearch } from './bench-search.ts'
import { needsForce, targetOf, type Workspace } from './bench-target.ts'
import { useBenchMessage } from './use-bench-message.ts'
import { useBenchRun } from './use-bench-run.ts'

export type Bench = ReturnType<typeof useBench>

const NO_OVERRIDE: JsonObject = {}

/** The inputs and result of a run. The link holds choices; payloads and the sending switch last for this visit only. */
export function useBench(workspace: Workspace) {
  const [search, set] = useSearchValues(benchSearch)
  const target = targetOf(workspace, search)
  const written = useBenchMessage({ workspace, target, search, set })
  const { message } = written
  const [isSending, send] = useState(false)
  const [override, setOverride] = useState(NO_OVERRIDE)
  const [overrideFault, setOverrideFault] = useState<string>()

  const stages = search.stages ?? ['user', 'dest']
  const stage: StageFlags = {
    user_transform: stages.includes('user'),
    dest_transform: stages.includes('dest'),
    send_to_destination: isSending,
  }
  const force = search.force === undefined ? target !== undefined && needsForce(target) : search.force === '1'
  const hasOverride = target?.kind === 'destination' && Object.keys(override).length > 0
  const isRead = message !== undefined && overrideFault === undefined
  const body = { stage, message: message ?? {}, ...(hasOverride ? { destinationConfig: override } : {}) }
  const { start, forget, ...lastRun } = useBenchRun({ target, force, body })

  const choose = (kind: 'destination' | 'source', id: string) => {
    // The target changed: the user must enable sending again.
    send(false)
    setOverride(NO_OVERRIDE)
    forget()
    set({ destination: undefined, source: undefined, force: undefined, [kind]: id }, 'push')
  }

  return {
    search,
    set,
    target,
    choose,
    ...written,
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
    overrideFault,
    setOverrideFault,
    body,
    /** Whether message and overrides can be read. */
    isRead,
    start: async () => {
      if (isRead) await start()
    },
    ...lastRun,
  }
}
