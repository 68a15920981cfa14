import { useState } from 'react'
import type { Code } from '../../../api/code.ts'
import { useRunTransformation } from '../../../api/transformations.ts'
import { type EventRun, eventRuns, type WrittenEvents } from '../test-run.ts'

interface CodeRunAsked {
  readonly written: Pick<Code, 'code' | 'language'>
  readonly read: WrittenEvents
  /** Told of every run: what failed, or undefined. */
  readonly onFailure: (failure: Error | string | undefined) => void
}

/** The last run of unsaved code over events, and the start of the next one. */
export function useCodeRun({ written, read, onFailure }: CodeRunAsked) {
  const { mutateAsync, error, isPending } = useRunTransformation()
  const [run, setRun] = useState<{ runs: readonly EventRun[]; logs: readonly string[] }>()
  const start = async () => {
    if (!('events' in read)) return
    const { code, language } = written
    try {
      const { body } = await mutateAsync({ code, language, events: read.events })
      const runs = eventRuns(read.events, body)
      setRun({ runs, logs: body.logs })
      onFailure(runs.find(({ error }) => error !== undefined)?.error)
    } catch (failure) {
      // Shown above the results of the former code.
      setRun(undefined)
      onFailure(failure as Error)
    }
  }
  return { run, start, error, isPending }
}
