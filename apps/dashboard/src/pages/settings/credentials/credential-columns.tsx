import { Button } from '@mantine/core'
import type { Credential } from '@millrace/api-types'
import { CopyButton } from '../../../components/copy-button.tsx'
import { NeedsRole } from '../../../components/needs-role.tsx'
import type { Column } from '../../../components/table/table-column.ts'
import { Time } from '../../../components/time/time.tsx'

interface Actions {
  readonly onReplace: (credential: Credential) => void
  readonly onDelete: (credential: Credential) => void
}

export function credentialColumns({ onReplace, onDelete }: Actions): Column<Credential>[] {
  return [
    {
      key: 'key',
      title: 'Key',
      width: 'minmax(180px, 2fr)',
      cell: ({ key }) => (
        <>
          <code>{key}</code> <CopyButton text={key} what="key" />
        </>
      ),
      card: 'title',
    },
    {
      key: 'updated',
      title: 'Last set',
      width: '160px',
      cell: ({ updatedAt }) => <Time at={updatedAt} isInRow />,
      isTitledInCard: true,
    },
    {
      key: 'actions',
      title: '',
      width: '172px',
      isEnd: true,
      cell: (credential) => (
        <>
          <NeedsRole role="editor">
            <Button
              size="compact-xs"
              variant="subtle"
              aria-label={`Replace ${credential.key}`}
              onClick={() => onReplace(credential)}
            >
              Replace
            </Button>
          </NeedsRole>
          <NeedsRole role="editor">
            <Button
              size="compact-xs"
              variant="subtle"
              color="bad"
              aria-label={`Delete ${credential.key}`}
              onClick={() => onDelete(credential)}
            >
              Delete
            </Button>
          </NeedsRole>
        </>
      ),
      card: 'end',
    },
  ]
}
