import { useRouter } from '@tanstack/react-router'
import { useEffect, useState } from 'react'
import { passBack, type Return, returnIn } from '../../api/authorization.ts'
import { OpenPage } from '../../components/open-page.tsx'
import { authorizationTexts } from '../../texts.ts'
import styles from './oauth-page.module.css'

const WAIT_MS = 3_000

/**
 * Where a service sends people back. It passes the code to the tab that began and shows nothing of the address: anyone can write a
 * link to this page.
 *
 * @see contracts/destinations.md §7e [D549]
 */
export function OAuthPage() {
  const { history } = useRouter()
  const [brought] = useState(() => returnIn(window.location.search))
  const [isTaken, setTaken] = useState<boolean>()
  useEffect(() => {
    if (brought === undefined) return
    // The code must not stay in the address and its history.
    history.replace('/ui/oauth')
    const patience = setTimeout(() => setTaken((taken) => taken ?? false), WAIT_MS)
    const stop = passBack(brought, () => setTaken(true))
    return () => {
      clearTimeout(patience)
      stop()
    }
  }, [brought, history])
  return (
    <OpenPage title="Authorization">
      <p className={styles.meaning} role="status">
        {meaningOf(brought, isTaken)}
      </p>
    </OpenPage>
  )
}

function meaningOf(brought: Return | undefined, isTaken: boolean | undefined): string {
  if (brought === undefined) return authorizationTexts.nothingBrought
  if (isTaken === undefined) return authorizationTexts.passing
  return isTaken ? authorizationTexts.passed : authorizationTexts.notAwaited
}
