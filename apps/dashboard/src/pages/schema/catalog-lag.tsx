import { useCatalogStatus } from '../../api/schemas.ts'
import { schemaTexts } from '../../texts.ts'
import styles from './schema.module.css'

const POLL_MS = 10_000
/** An event is visible within a second unless the catalog lags. */
const LAG_SECONDS = 2

/** Warns if the shown data is out of date. */
export function CatalogLag() {
  const { data } = useCatalogStatus({ pollMs: POLL_MS })
  const seconds = Math.round(data?.LagSeconds ?? 0)
  return (
    <div role="status">{seconds >= LAG_SECONDS && <p className={styles.notice}>{schemaTexts.behind(seconds)}</p>}</div>
  )
}
