import { useNextLoad } from '../api/requests/loaded-part.ts'
import { useClock } from '../components/states/use-clock.ts'
import { pageTexts } from '../texts.ts'
import styles from './shell.module.css'

/** Reports that a part of the page could not be loaded, and when it is retried. */
export function LoadNotice() {
  const nextTryAt = useNextLoad()
  const now = useClock(nextTryAt !== undefined)
  if (nextTryAt === undefined) return null
  return (
    <div role="status" className={styles.notice}>
      <p>{pageTexts.noConnection(Math.max(1, Math.ceil((nextTryAt - now) / 1000)))}</p>
    </div>
  )
}
