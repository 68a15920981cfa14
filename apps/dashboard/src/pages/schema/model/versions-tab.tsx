import { Checkbox } from '@mantine/core'
import { grouped } from '@millrace/wording'
import { useMemo } from 'react'
import { DataTable } from '../../../components/table/data-table.tsx'
import type { Column } from '../../../components/table/table-column.ts'
import { Time } from '../../../components/time/time.tsx'
import { useSearchValues } from '../../../shell/search-values.ts'
import styles from '../schema.module.css'
import { modelSearch } from '../schema-search.ts'
import type { ModelTabProps } from './model-tab-props.ts'
import { SchemaChanges } from './schema-changes.tsx'
import { comparedVersions, type VersionBar, versionBars } from './version-bars.ts'

/** Every version with the period in which it was seen; the user can compare two. */
export function VersionsTab({ versions }: ModelTabProps) {
  const [chosen, set] = useSearchValues(modelSearch)
  const bars = useMemo(() => versionBars(versions), [versions])
  const compared = comparedVersions(bars, chosen)
  const versionId = compared?.version.version.VersionID
  const againstId = compared?.against.version.VersionID
  const columns = useMemo(
    () =>
      versionColumns([versionId, againstId], (id) => {
        if (id === versionId || id === againstId) return
        // Compares the last two chosen versions.
        const [newer, older] = inOrder(bars, id, versionId)
        set({ version: newer, against: older })
      }),
    [bars, versionId, againstId, set],
  )
  return (
    <div className={styles.sections}>
      {compared !== undefined && <SchemaChanges {...compared} />}
      <DataTable
        label="Versions"
        columns={columns}
        rows={bars}
        rowId={({ version }) => version.VersionID}
        rowName={({ number }) => `Version ${number}`}
      />
    </div>
  )
}

/** @param bars newest first. */
function inOrder(bars: readonly VersionBar[], one: string, other: string | undefined): (string | undefined)[] {
  const place = (id: string | undefined) => bars.findIndex(({ version }) => version.VersionID === id)
  return place(one) < place(other) ? [one, other] : [other, one]
}

function versionColumns(
  compared: readonly (string | undefined)[],
  onChoose: (id: string) => void,
): readonly Column<VersionBar>[] {
  return [
    {
      key: 'number',
      title: 'Version',
      width: '128px',
      cell: ({ number, version: { VersionID } }) => (
        <Checkbox
          size="xs"
          label={`Version ${number}`}
          checked={compared.includes(VersionID)}
          onChange={() => onChoose(VersionID)}
        />
      ),
      card: 'title',
    },
    {
      key: 'bar',
      title: 'Seen',
      width: 'minmax(160px, 3fr)',
      cell: ({ start, width }) => (
        <span className={styles.lane} aria-hidden="true">
          <span
            className={styles.bar}
            style={{ left: `${start * 99}%`, width: `${Math.min(width, 1 - start) * 100}%` }}
          />
        </span>
      ),
      card: 'none',
    },
    {
      key: 'first',
      title: 'First seen',
      width: '152px',
      cell: ({ version }) => <Time at={version.FirstSeen} isInRow />,
      isTitledInCard: true,
    },
    {
      key: 'last',
      title: 'Last seen',
      width: '152px',
      cell: ({ version }) => <Time at={version.LastSeen} isInRow />,
      isTitledInCard: true,
    },
    {
      key: 'count',
      title: 'Events',
      width: '96px',
      isEnd: true,
      cell: ({ version }) => grouped(version.TotalCount),
      card: 'end',
      isTitledInCard: true,
    },
  ]
}
