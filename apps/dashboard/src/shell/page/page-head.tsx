import { Link } from '@tanstack/react-router'
import { type ReactNode, useLayoutEffect, useRef } from 'react'
import styles from '../page-head.module.css'
import { usePageTitle } from './page-title.ts'

interface PageHeadProps {
  /** Undefined until it is loaded. */
  readonly title: string | undefined
  /** Beside the title: an id, a state. */
  readonly meta?: ReactNode
  /** Actions, at the right. */
  readonly actions?: ReactNode
  readonly tabs?: readonly PageTab[]
}

interface PageTab {
  readonly text: string
  readonly to: string
  /** Search values of a tab that are part of the link. */
  readonly search?: Readonly<Record<string, string>>
  readonly isCurrent: boolean
}

/** The head of every page: title, actions, tabs. */
export function PageHead({ title, meta, actions, tabs = [] }: PageHeadProps) {
  usePageTitle(title)
  return (
    <div className={styles.head} data-tabs={tabs.length > 0 || undefined}>
      <div className={styles.line}>
        <h1 className={styles.title}>{title ?? ' '}</h1>
        {meta !== undefined && <div className={styles.meta}>{meta}</div>}
        {actions !== undefined && <div className={styles.actions}>{actions}</div>}
      </div>
      {tabs.length > 0 && <PageTabs tabs={tabs} />}
    </div>
  )
}

function PageTabs({ tabs }: { readonly tabs: readonly PageTab[] }) {
  const nav = useRef<HTMLElement>(null)
  const current = tabs.find(({ isCurrent }) => isCurrent)?.to
  // The tabs scroll sideways if they do not fit.
  // biome-ignore lint/correctness/useExhaustiveDependencies: another tab has become the current one
  useLayoutEffect(() => {
    const row = nav.current
    const tab = row?.querySelector<HTMLElement>('[aria-current]')
    if (row && tab) row.scrollLeft = tab.offsetLeft - row.offsetLeft - (row.clientWidth - tab.offsetWidth) / 2
  }, [current])
  return (
    <nav ref={nav} className={styles.tabs} aria-label="Parts of this page">
      {tabs.map(({ text, to, search, isCurrent }) => (
        <Link
          key={text}
          to={to}
          search={(search ?? {}) as never}
          className={styles.tab}
          aria-current={isCurrent ? 'page' : undefined}
        >
          {text}
        </Link>
      ))}
    </nav>
  )
}
