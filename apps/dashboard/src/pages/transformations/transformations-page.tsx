import { useMemo } from 'react'
import { useStats } from '../../api/stats.ts'
import { type Transformation, useTransformations } from '../../api/transformations.ts'
import { sumOf } from '../../components/figures/series.ts'
import { transformationTexts } from '../../texts.ts'
import { codeColumns, countColumn } from './code-columns.tsx'
import { CodeList } from './code-list.tsx'
import { NewTransformation } from './new-code.tsx'

const POLL_MS = 10_000
const HOUR_S = 3_600

/** @see contracts/dashboard.md §2 */
export function TransformationsPage() {
  const stats = useStats({ seconds: HOUR_S, step: 10 }, { pollMs: POLL_MS }).data
  const columns = useMemo(() => {
    const errors = new Map(stats?.transformations.map(({ id, errors }) => [id, sumOf(errors)]))
    return codeColumns<Transformation>([
      countColumn('usedBy', 'Used by', ({ destinations }) => destinations.length),
      // Of one that did not run nothing is told.
      countColumn('errors', 'Errors/h', ({ id }) => (stats === undefined ? null : (errors.get(id) ?? 0))),
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
