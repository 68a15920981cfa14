import { useNavigate } from '@tanstack/react-router'
import { useMemo } from 'react'
import { useDestinations } from '../../api/destinations.ts'
import { namesOf } from '../../api/names.ts'
import { useReplays } from '../../api/replays.ts'
import { ApiPopover } from '../../components/api-popover.tsx'
import { MAX_ROWS } from '../../components/curl-text.ts'
import { LinkButton } from '../../components/link-button.tsx'
import { NeedsRole } from '../../components/needs-role.tsx'
import { Empty } from '../../components/states/empty.tsx'
import { Shown } from '../../components/states/shown.tsx'
import { DataTable } from '../../components/table/data-table.tsx'
import { PageHead } from '../../shell/page/page-head.tsx'
import { replayTexts } from '../../texts.ts'
import { replayColumns } from './replay-columns.tsx'

/** Jobs over the log and over dead letters, newest first. */
export function ReplaysPage() {
  const reading = useReplays()
  const navigate = useNavigate()
  const destinations = useDestinations().data
  const columns = useMemo(() => replayColumns(namesOf(destinations)), [destinations])
  const add = (
    <NeedsRole role="editor">
      <LinkButton to="/replays/new">New replay</LinkButton>
    </NeedsRole>
  )
  return (
    <>
      <PageHead
        title="Replays"
        actions={
          <>
            <ApiPopover path="/v2/replays" query={{ limit: MAX_ROWS }} />
            {add}
          </>
        }
      />
      <Shown of={reading}>
        {({ pages }) => {
          const rows = pages.flatMap(({ elements }) => elements)
          if (rows.length === 0) return <Empty text={replayTexts.empty}>{add}</Empty>
          return (
            <DataTable
              label="Replays"
              columns={columns}
              rows={rows}
              rowId={({ id }) => id}
              onOpen={({ id }) => void navigate({ to: '/replays/$id', params: { id } as never })}
              total={reading.hasNextPage ? null : rows.length}
              {...(reading.hasNextPage && !reading.isError ? { onNearEnd: () => void reading.fetchNextPage() } : {})}
            />
          )
        }}
      </Shown>
    </>
  )
}
