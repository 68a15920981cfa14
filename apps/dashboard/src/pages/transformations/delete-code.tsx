import { Button } from '@mantine/core'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { ConfirmDialog } from '../../components/confirm-dialog.tsx'
import { NeedsRole } from '../../components/needs-role.tsx'
import type { CodeTabProps } from './code-kind.ts'
import styles from './transformations.module.css'

/** Deletes unused code; for used code the dialog shows the server's refusal. */
export function DeleteCode({ kind, code }: CodeTabProps) {
  const [isAsking, setAsking] = useState(false)
  const { mutateAsync } = kind.useDelete()
  const navigate = useNavigate()
  return (
    <div className={styles.filters}>
      <NeedsRole role="editor">
        <Button variant="outline" color="bad" onClick={() => setAsking(true)}>
          {`Delete ${kind.thing}`}
        </Button>
      </NeedsRole>
      {isAsking && (
        <ConfirmDialog
          title={`Delete ${code.name}`}
          action="Delete"
          onConfirm={async () => {
            await mutateAsync({ id: code.id, etag: code.etag })
            await navigate({ to: kind.path })
          }}
          onClose={() => setAsking(false)}
        >
          <p>This also deletes its drafts and stored tests.</p>
        </ConfirmDialog>
      )}
    </div>
  )
}
