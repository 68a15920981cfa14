import { Button } from '@mantine/core'
import type { Stage } from '@millrace/api-types'
import { useState } from 'react'
import { STAGES, useDeadLetterGroups } from '../../api/dead-letters.ts'
import { NeedsRole } from '../../components/needs-role.tsx'
import { Notice } from '../../components/states/notice.tsx'
import { deadLetterTexts } from '../../texts.ts'
import styles from './dead-letters.module.css'
import { type LetterJob, LetterJobDialog } from './letter-job-dialog.tsx'

interface FailedBeforeProps {
  /** Destinations whose events may succeed after the change. */
  readonly destinations: readonly { readonly id: string; readonly name: string }[]
  /** The stages where events failed before the change. */
  readonly stages: readonly Stage[]
}

/**
 * After a change that may solve the problem: the events that failed there, to replay them. Nothing if there are none.
 */
export function FailedBefore({ destinations, stages }: FailedBeforeProps) {
  const groups = useDeadLetterGroups({}).data ?? []
  const [job, setJob] = useState<LetterJob>()
  const causes = destinations.flatMap(({ id, name }) =>
    STAGES.filter((stage) => stages.includes(stage)).flatMap((stage) => {
      const ofCause = groups.filter((group) => group.destinationId === id && group.stage === stage)
      const count = ofCause.reduce((sum, group) => sum + group.count, 0)
      return count === 0 ? [] : [{ id, name, stage, count }]
    }),
  )
  if (causes.length === 0) return null
  return (
    <>
      {causes.map(({ id, name, stage, count }) => (
        <Notice key={`${id} ${stage}`}>
          <span>{deadLetterTexts.failedBefore(count)}</span>
          {causes.length > 1 && <span className={styles.dim}>{name}</span>}
          <NeedsRole role="editor">
            <Button
              variant="default"
              onClick={() =>
                setJob({
                  kind: 'replay',
                  target: name,
                  choice: { filter: { destinationId: id, stage, state: 'open' } },
                })
              }
            >
              Send again
            </Button>
          </NeedsRole>
        </Notice>
      ))}
      {job !== undefined && <LetterJobDialog job={job} onClose={() => setJob(undefined)} />}
    </>
  )
}
