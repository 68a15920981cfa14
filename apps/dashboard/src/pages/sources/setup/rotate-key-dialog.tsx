import type { Source } from '@millrace/api-types'
import { useState } from 'react'
import type { Tagged } from '../../../api/requests/reading.ts'
import { useRotateWriteKey } from '../../../api/sources.ts'
import { ConfirmDialog } from '../../../components/confirm-dialog.tsx'
import { NumberField } from '../../../components/form/number-field.tsx'

/** From control-plane.md §5. */
const MAX_HOURS = 720

interface RotateKeyDialogProps {
  readonly source: Tagged<Source>
  readonly onClose: () => void
}

export function RotateKeyDialog({ source: { id, name, etag }, onClose }: RotateKeyDialogProps) {
  const [graceHours, setGraceHours] = useState(24)
  const { mutateAsync } = useRotateWriteKey()
  return (
    <ConfirmDialog
      title={`Rotate the key of ${name}`}
      action="Rotate"
      onConfirm={() => mutateAsync({ id, etag, graceHours })}
      onClose={onClose}
    >
      <p>
        {graceHours === 0
          ? 'Apps with the old key are refused at once.'
          : 'Creates a new key. The old key keeps working for a while, so that you can update your apps.'}
      </p>
      <NumberField
        label="The old key works for"
        suffix=" h"
        value={graceHours}
        onChange={setGraceHours}
        min={0}
        max={MAX_HOURS}
        allowDecimal={false}
        clampBehavior="strict"
      />
    </ConfirmDialog>
  )
}
