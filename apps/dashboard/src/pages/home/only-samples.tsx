import type { Source } from '@millrace/api-types'
import { useEventModels } from '../../api/schemas.ts'
import { LinkButton } from '../../components/link-button.tsx'
import { NeedsRole } from '../../components/needs-role.tsx'
import { homeTexts } from '../../texts.ts'
import styles from './home.module.css'

/** The sample events of the first start. @see contracts/control-plane.md §3 [D733] */
const SAMPLES = 3

/** Shown on a server that has received only its own samples. */
export function OnlySamples({ sources }: { readonly sources: readonly Source[] }) {
  const isQuickstart = sources.length === 1 && sources[0]!.key === 'quickstart'
  const writeKey = sources[0]?.writeKey ?? ''
  const { data: models } = useEventModels({ writeKey }, { isEnabled: isQuickstart, pollMs: 10_000 })
  const events = models?.reduce((sum, { TotalCount }) => sum + TotalCount, 0)
  if (!isQuickstart || events !== SAMPLES) return null
  return (
    <div className={styles.samples}>
      <p>{homeTexts.onlySamples}</p>
      <NeedsRole role="editor">
        <LinkButton to="/sources/new">New source</LinkButton>
      </NeedsRole>
    </div>
  )
}
