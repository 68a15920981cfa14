import { Button } from '@mantine/core'
import { counted } from '@millrace/wording'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { useConnections } from '../../../api/connections.ts'
import { ApiError } from '../../../api/requests/client.ts'
import { useDeleteSource, usePurgeCatalog } from '../../../api/sources.ts'
import { ConfirmDialog } from '../../../components/confirm-dialog.tsx'
import { NeedsRole } from '../../../components/needs-role.tsx'
import type { SourceTabProps } from '../source-tab-props.ts'
import styles from '../sources.module.css'

/** Danger zone. */
export function SourceDanger({ source }: SourceTabProps) {
  const [open, setOpen] = useState<'delete' | 'purge'>()
  const purge = usePurgeCatalog()
  const close = () => setOpen(undefined)
  return (
    <section className={styles.danger} aria-label="Danger zone">
      <div className={styles.dangerLine}>
        <p>Delete the schema data of these events.</p>
        <NeedsRole role="admin">
          <Button variant="default" onClick={() => setOpen('purge')}>
            Purge schema
          </Button>
        </NeedsRole>
      </div>
      <div className={styles.dangerLine}>
        <p>Delete this source. Its write key stops working at once.</p>
        <NeedsRole role="editor">
          <Button variant="outline" color="bad" onClick={() => setOpen('delete')}>
            Delete source
          </Button>
        </NeedsRole>
      </div>
      {open === 'purge' && (
        <ConfirmDialog
          title={`Purge the schema of ${source.name}`}
          action="Purge"
          onConfirm={() => purge.mutateAsync({ id: source.id })}
          onClose={close}
        >
          <p>Deletes its models, versions, samples and counts. New events create new ones.</p>
        </ConfirmDialog>
      )}
      {open === 'delete' && <DeleteDialog source={source} onClose={close} />}
    </section>
  )
}

/** Connections and waiting events have separate check boxes; the server reports the number of waiting events. */
function DeleteDialog({ source, onClose }: SourceTabProps & { readonly onClose: () => void }) {
  const navigate = useNavigate()
  const { mutateAsync, error } = useDeleteSource()
  const connections = useConnections().data?.filter(({ sourceId }) => sourceId === source.id) ?? []
  const waiting = error instanceof ApiError ? error.details?.['waiting'] : undefined
  const checks = [
    ...(connections.length > 0
      ? [{ name: 'cascade', label: `Remove its ${counted(connections.length, 'connection')}` }]
      : []),
    ...(typeof waiting === 'number'
      ? [{ name: 'discard', label: `Discard ${counted(waiting, 'waiting event')}` }]
      : []),
  ]
  return (
    <ConfirmDialog
      title={`Delete ${source.name}`}
      action="Delete"
      checks={checks}
      onConfirm={async () => {
        const agreed = { cascade: connections.length > 0, discard: typeof waiting === 'number' }
        await mutateAsync({ id: source.id, etag: source.etag, ...agreed })
        await navigate({ to: '/sources' })
      }}
      onClose={onClose}
    >
      <p>Apps with its write key are refused at once.</p>
    </ConfirmDialog>
  )
}
