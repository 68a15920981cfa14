import type { DestinationResult } from '@millrace/api-types'
import type { JsonObject } from '@millrace/protocol/json'
import { useState } from 'react'
import { type StageFlags, useTestDestination, useTestSource } from '../../api/test-api.ts'
import type { BenchTarget } from './bench-target.ts'

/** The result of a run, with its inputs. */
export interface BenchRun {
  readonly results: readonly DestinationResult[]
  readonly stage: StageFlags
  readonly message: JsonObject
  /** Key of all inputs: other inputs make a new run. */
  readonly asked: string
}

interface RunAsked {
  readonly target: BenchTarget | undefined
  readonly force: boolean
  readonly body: {
    readonly stage: StageFlags
    readonly message: JsonObject
    readonly destinationConfig?: JsonObject
  }
}

/** The last run of the bench, and the start of the next one. */
export function useBenchRun({ target, force, body }: RunAsked) {
  const [run, setRun] = useState<BenchRun>()
  const ofDestination = useTestDestination()
  const ofSource = useTestSource()
  const asked = JSON.stringify([target?.id, force, body])

  const reset = () => {
    ofDestination.reset()
    ofSource.reset()
  }
  const start = async () => {
    if (target === undefined) return
    reset()
    const { id, kind } = target
    const results =
      kind === 'source'
        ? ofSource.mutateAsync({ id, force, ...body }).then(({ body }) => body)
        : ofDestination.mutateAsync({ id, force, ...body }).then(({ body }) => [body])
    // What is refused is shown above the panes.
    const made = await results.catch(() => undefined)
    setRun(made && { results: made, stage: body.stage, message: body.message, asked })
  }
  return {
    run,
    start,
    forget: () => {
      setRun(undefined)
      reset()
    },
    /** An input changed since the run. */
    isOld: run !== undefined && run.asked !== asked,
    isRunning: ofDestination.isPending || ofSource.isPending,
    error: ofDestination.error ?? ofSource.error,
  }
}
