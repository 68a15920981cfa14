import type { Stage } from '@millrace/api-types'
import { Suspense, useMemo } from 'react'
import { useDeadLetterGroups } from '../../api/dead-letters.ts'
import { useDestinations } from '../../api/destinations.ts'
import { namesOf } from '../../api/names.ts'
import { ApiPopover } from '../../components/api-popover.tsx'
import { BesidePanel } from '../../components/beside-panel.tsx'
import { MAX_ROWS } from '../../components/curl-text.ts'
import { lazyPart } from '../../components/lazy-part.ts'
import { Empty, EmptyByFilter } from '../../components/states/empty.tsx'
import { Shown } from '../../components/states/shown.tsx'
import { PageHead } from '../../shell/page/page-head.tsx'
import { useSearchValues } from '../../shell/search-values.ts'
import { deadLetterTexts } from '../../texts.ts'
import styles from './dead-letters.module.css'
import { deadLettersSearch, FILTER_NAMES, filtersOf } from './dead-letters-search.ts'
import { GroupTable } from './group-table.tsx'
import { LetterFilters, NO_FILTERS } from './letter-filters.tsx'
import { letterGroups, narrowedTo } from './letter-groups.ts'
import { LetterList } from './letter-list.tsx'
import { STAGE_WORDS } from './stage-words.ts'

const LetterPanel = lazyPart(() => import('./letter-panel.tsx').then(({ LetterPanel }) => ({ default: LetterPanel })))
const POLL_MS = 10_000
// Passed as a prop: the bundler would put a module that the page and its panel share into the panel's file.
const stageWord = (stage: Stage) => STAGE_WORDS[stage]

/** Dead letters: their reasons, their counts, and their replay. */
export function DeadLettersPage() {
  const [search, set] = useSearchValues(deadLettersSearch)
  const filters = filtersOf(search)
  const counted = useDeadLetterGroups(filters, { pollMs: POLL_MS })
  const destinations = useDestinations().data
  const nameOf = useMemo(() => namesOf(destinations), [destinations])
  const groups = counted.data === undefined ? [] : letterGroups(counted.data)
  const group = groups.find(({ key }) => key === search.group)
  const listed = narrowedTo(filters, group)
  const isFiltered = FILTER_NAMES.some((name) => search[name] !== undefined)
  const panel =
    search.id === undefined ? null : (
      <Suspense>
        <LetterPanel
          key={search.id}
          id={search.id}
          nameOf={nameOf}
          stageWord={stageWord}
          onClose={() => set({ id: undefined }, 'push')}
        />
      </Suspense>
    )
  return (
    <BesidePanel panel={panel}>
      <PageHead
        title="Dead letters"
        actions={<ApiPopover path="/v2/dead-letters" query={{ ...listed, limit: MAX_ROWS }} />}
      />
      <div className={styles.filters}>
        <LetterFilters search={search} set={set} />
      </div>
      <Shown of={counted}>
        {() => {
          if (groups.length === 0) {
            return isFiltered ? (
              <EmptyByFilter onClear={() => set(NO_FILTERS)} />
            ) : (
              <Empty text={deadLetterTexts.empty} />
            )
          }
          // A replayed group is gone, but a link may still name it.
          if (search.group !== undefined && group === undefined) {
            return <EmptyByFilter onClear={() => set({ group: undefined, sel: undefined })} />
          }
          return (
            <>
              {group === undefined && (
                <GroupTable
                  groups={groups}
                  nameOf={nameOf}
                  onOpen={({ key }) => set({ group: key, sel: undefined }, 'push')}
                />
              )}
              <LetterList
                filters={listed}
                groups={group === undefined ? groups : [group]}
                group={group}
                nameOf={nameOf}
                search={search}
                set={set}
              />
            </>
          )
        }}
      </Shown>
    </BesidePanel>
  )
}
