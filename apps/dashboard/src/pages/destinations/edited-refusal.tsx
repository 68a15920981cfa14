import type { JsonValue } from '@millrace/protocol/json'
import { ChangedMeanwhile } from '../../components/form/changed-meanwhile.tsx'
import { Refusal } from '../../components/form/refusal.tsx'
import type { Edited } from './use-edited.ts'

interface EditedRefusalProps {
  // biome-ignore lint/suspicious/noExplicitAny: whichever members are written
  readonly edited: Edited<any>
  /** Names of fields that show their own refusal. */
  readonly fields?: readonly string[]
}

/** On top of a form: why it was not saved, and the choice when somebody else saved first. */
export function EditedRefusal({ edited, fields = [] }: EditedRefusalProps) {
  if (!edited.isChanged) return <Refusal error={edited.error} fields={fields} />
  return (
    <ChangedMeanwhile
      thing="destination"
      theirs={edited.theirs as JsonValue | undefined}
      mine={edited.written as JsonValue}
      onLoadTheirs={edited.loadTheirs}
      onKeepMine={() => void edited.keepMine()}
    />
  )
}
