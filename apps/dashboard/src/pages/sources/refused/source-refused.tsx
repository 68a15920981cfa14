import { useRefusals } from '../../../api/sources.ts'
import { RefusalTable } from '../../../components/refusal-table.tsx'
import { Empty } from '../../../components/states/empty.tsx'
import { Shown } from '../../../components/states/shown.tsx'
import { sourceTexts } from '../../../texts.ts'
import type { SourceTabProps } from '../source-tab-props.ts'

const POLL_MS = 10_000

/** Recently refused requests with the key of this source, or with an unknown key. */
export function SourceRefused({ source }: SourceTabProps) {
  const reading = useRefusals({}, { pollMs: POLL_MS })
  return (
    <Shown of={reading}>
      {(refusals) => {
        const rows = refusals.filter(({ sourceId }) => sourceId === null || sourceId === source.id)
        if (rows.length === 0) return <Empty text={sourceTexts.noRefusals} />
        return <RefusalTable refusals={rows} />
      }}
    </Shown>
  )
}
