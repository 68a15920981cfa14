import { useLocation, useMatches } from '@tanstack/react-router'
import { pageTexts } from '../texts.ts'
import { unknownNames } from './search-values.ts'
import styles from './shell.module.css'

/** Lists the parts of a link that could not be read; the page ignores them. */
export function LinkNotice() {
  const page = useMatches({ select: (matches) => matches.at(-1)?.staticData.page })
  const search: Readonly<Record<string, unknown>> = useLocation().search
  const readers = page !== undefined && 'search' in page ? (page.search ?? {}) : {}
  const unknown = page === undefined ? [] : unknownNames(readers, search)
  if (unknown.length === 0) return null
  return (
    <div role="status" className={styles.notice}>
      {unknown.map((name) => (
        <p key={name}>{pageTexts.badLinkFilter(name)}</p>
      ))}
    </div>
  )
}
