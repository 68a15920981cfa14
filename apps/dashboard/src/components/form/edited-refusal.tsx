import type { JsonValue } from '@millrace/protocol/json'
import { ChangedMeanwhile } from './changed-meanwhile.tsx'
import { Refusal } from './refusal.tsx'
import type { Edited } from './use-edited.ts'

interface EditedRefusalProps {
  /** `source`, `destination`. */
  readonly thing: string
  readonly edited: Pick<Edited<unknown>, 'error' | 'isChanged' | 'theirs' | 'written' | 'loadTheirs' | 'keepMine'>
  /** Names of fields that show their own error. */
  readonly fields?: readonly string[]
  /** Whether every field can be read. */
  readonly isRead?: boolean
}

/** Above a form: why saving failed, and the choice after a concurrent change. */
export function EditedRefusal({ thing, edited, fields = [], isRead = true }: EditedRefusalProps) {
  if (!edited.isChanged) return <Refusal error={edited.error} fields={fields} />
  return (
    <ChangedMeanwhile
      thing={thing}
      theirs={edited.theirs as JsonValue | undefined}
      mine={isRead ? (edited.written as JsonValue) : undefined}
      onLoadTheirs={edited.loadTheirs}
      onKeepMine={() => void edited.keepMine()}
    />
  )
}
