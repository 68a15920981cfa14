import { Button } from '@mantine/core'
import { counted, grouped } from '@millrace/wording'
import { useMemo, useState } from 'react'
import { type DeadLetterFilters, useDeadLetters } from '../../api/dead-letters.ts'
import { serverNow } from '../../api/requests/server-clock.ts'
import { firstLine, shownText } from '../../components/json/shown-text.ts'
import { NeedsRole } from '../../components/needs-role.tsx'
import { Shown } from '../../components/states/shown.tsx'
import { DataTable } from '../../components/table/data-table.tsx'
import { SELECTION_BOXES } from '../../components/table/table-selection.tsx'
import type { SetSearch } from '../../shell/search-values.ts'
import styles from './dead-letters.module.css'
import type { DeadLettersSearch, deadLettersSearch } from './dead-letters-search.ts'
import { letterColumns } from './letter-columns.tsx'
import { allUntil, type LetterGroup, targetOf } from './letter-groups.ts'
import { type LetterJob, LetterJobDialog } from './letter-job-dialog.tsx'

const MAX_CHOSEN = 50

interface LetterListProps {
  readonly filters: DeadLetterFilters
  /** Groups that match the filters. */
  readonly groups: readonly LetterGroup[]
  /** The group whose dead letters are listed. */
  readonly group: LetterGroup | undefined
  readonly nameOf: (destinationId: string) => string
  readonly search: DeadLettersSearch
  readonly set: SetSearch<typeof deadLettersSearch>
}

/** The dead letters that match the filters; the user can replay or discard some or all of them. */
export function LetterList({ filters, groups, group, nameOf, search, set }: LetterListProps) {
  const reading = useDeadLetters({ ...filters, limit: 100 })
  const [job, setJob] = useState<LetterJob>()
  const isCompact = search.id !== undefined
  const columns = useMemo(() => letterColumns(nameOf, isCompact), [nameOf, isCompact])
  const total = groups.reduce((sum, { count }) => sum + count, 0)
  const { sel } = search
  const chosen = sel === undefined ? [] : sel === 'all' ? 'all' : sel
  const isAll = chosen === 'all' || chosen.length === 0
  const canAct = (filters.state ?? 'open') === 'open'
  const ask = (kind: LetterJob['kind']) => {
    const choice = isAll ? allUntil(filters, serverNow()) : { ids: chosen as readonly string[] }
    setJob({ kind, choice, target: targetOf(groups, nameOf) })
  }
  const count = isAll ? total : chosen.length
  return (
    <section className={styles.list} aria-label="Dead letters">
      <div className={styles.listHead}>
        {group !== undefined && (
          <Button variant="subtle" color="gray" onClick={() => set({ group: undefined, sel: undefined }, 'push')}>
            All groups
          </Button>
        )}
        <h2 className={styles.listTitle}>
          {group === undefined ? counted(total, 'event') : shownText(firstLine(group.reason))}
        </h2>
        {group !== undefined && (
          <span className={styles.dim}>
            {counted(total, 'event')} at {targetOf([group], nameOf)}
          </span>
        )}
        {canAct && (
          <div className={styles.listActions}>
            <NeedsRole role="editor">
              <Button variant="default" onClick={() => ask('discard')}>
                {isAll ? `Discard all ${grouped(count)}` : `Discard ${grouped(count)}`}
              </Button>
            </NeedsRole>
            <NeedsRole role="editor">
              <Button onClick={() => ask('replay')}>
                {isAll ? `Send all ${grouped(count)} again` : `Send ${grouped(count)} again`}
              </Button>
            </NeedsRole>
          </div>
        )}
      </div>
      <Shown of={reading}>
        {({ pages }) => {
          const rows = pages.flatMap(({ elements }) => elements)
          return (
            <DataTable
              label="Dead letters"
              columns={columns}
              rows={rows}
              rowId={({ id }) => id}
              rowName={({ messageId, eventName, eventType }) => `${eventName || eventType} ${messageId}`}
              onOpen={({ id }) => set({ id }, 'push')}
              currentId={search.id}
              total={reading.hasNextPage ? null : rows.length}
              {...(canAct
                ? {
                    selection: {
                      boxes: SELECTION_BOXES,
                      has: (id: string) => chosen === 'all' || chosen.includes(id),
                      toggle: (id: string) => set({ sel: toggled(chosen, rows, id) }),
                      setAll: (isAll: boolean) => set({ sel: isAll ? 'all' : undefined }),
                    },
                  }
                : {})}
              {...(reading.hasNextPage && !reading.isError ? { onNearEnd: () => void reading.fetchNextPage() } : {})}
            />
          )
        }}
      </Shown>
      {job !== undefined && <LetterJobDialog job={job} onClose={() => setJob(undefined)} />}
    </section>
  )
}

/** At most 50 single ids, because a link contains them. A larger selection is everything that matches the filter. */
function toggled(
  chosen: 'all' | readonly string[],
  rows: readonly { readonly id: string }[],
  id: string,
): 'all' | readonly string[] | undefined {
  const before = chosen === 'all' ? rows.map((row) => row.id).slice(0, MAX_CHOSEN) : chosen
  const after = before.includes(id) ? before.filter((each) => each !== id) : [...before, id]
  if (after.length === 0) return undefined
  return after.length > MAX_CHOSEN ? 'all' : after
}
