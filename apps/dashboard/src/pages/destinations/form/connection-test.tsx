import { Button } from '@mantine/core'
import type { ConnectionTest } from '@millrace/api-types'
import type { JsonObject } from '@millrace/protocol/json'
import type { MouseEvent } from 'react'
import { useTestConnection } from '../../../api/destinations.ts'
import { Refusal } from '../../../components/form/refusal.tsx'
import { showProblem } from '../../../components/form/submitting.ts'
import { NeedsRole } from '../../../components/needs-role.tsx'
import { StateMark } from '../../../components/state-mark.tsx'
import { destinationTexts } from '../../../texts.ts'
import styles from '../destinations.module.css'

interface ConnectionTestProps {
  readonly type: string
  readonly config: JsonObject
  /** Of a saved one, so that masks stand for its secrets. */
  readonly destinationId?: string
  /** Whether the server can be asked; if not, the fields show why. */
  readonly isWhole: () => boolean
}

/** Tries the address and the credentials as they are written, saved or not. @see contracts/dashboard.md §4 N6 */
export function TestConnection({ type, config, destinationId, isWhole }: ConnectionTestProps) {
  const { mutate, data, error, isPending, variables } = useTestConnection()
  const isOfThis = JSON.stringify(variables?.config) === JSON.stringify(config)
  const test = ({ currentTarget: { form } }: MouseEvent<HTMLButtonElement>) => {
    if (isWhole()) mutate({ type, config, ...(destinationId === undefined ? {} : { destinationId }) })
    else void showProblem(form!)
  }
  return (
    <>
      <NeedsRole role="editor">
        <Button variant="default" loading={isPending} onClick={test}>
          {destinationTexts.testConnection}
        </Button>
      </NeedsRole>
      <span role="status">{isOfThis && data !== undefined && <Outcome {...data.body} />}</span>
      {isOfThis && <Refusal error={error} />}
    </>
  )
}

const MARKS = { good: 'ok', doubtful: 'behind', bad: 'failed' } as const

function Outcome({ verdict, text, durationMs }: ConnectionTest) {
  if (verdict === 'unknown') return <span className={styles.dim}>{text}</span>
  return <StateMark kind={MARKS[verdict]}>{`${text} ${durationMs} ms`}</StateMark>
}
