import type { Transformation } from '@millrace/api-types'
import { useMemo } from 'react'
import { useStats } from '../../api/stats.ts'
import { useTransformations } from '../../api/transformations.ts'
import { sumOf } from '../../components/figures/series.ts'
import { countColumn } from '../../components/table/count-column.ts'
import { transformationTexts } from '../../texts.ts'
import { codeColumns } from './code-columns.tsx'
import { CodeList } from './code-list.tsx'
import { NewTransformation } from './new-code.tsx'

const POLL_MS = 10_000
const HOUR_S = 3_600

export function TransformationsPage() {
  const stats = useStats({ seconds: HOUR_S, step: 10 }, { pollMs: POLL_MS }).data
  const columns = useMemo(() => {
    const errors = new Map(stats?.transformations.map(({ id, errors }) => [id, sumOf(errors)]))
    return codeColumns<Transformation>([
      countColumn({ key: 'usedBy', title: 'Used by', width: '96px', value: ({ destinations }) => destinations.length }),
      countColumn({
        key: 'errors',
        title: 'Errors/h',
        width: '96px',
        // Without runs there are no figures.
        value: ({ id }) => (stats === undefined ? null : (errors.get(id) ?? 0)),
      }),
    ])
  }, [stats])
  return (
    <CodeList
      title="Transformations"
      path="/transformations"
      list="/v2/transformations"
      of={useTransformations()}
      columns={columns}
      empty={transformationTexts.empty}
      newText="New transformation"
      dialog={(close) => <NewTransformation onClose={close} />}
    />
  )
}
