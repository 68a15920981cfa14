import { useLocation } from '@tanstack/react-router'
import { LinkButton } from '../../components/link-button.tsx'
import { navigationTexts, pageTexts } from '../../texts.ts'
import styles from '../shell.module.css'
import { PageHead } from './page-head.tsx'

export function PageMissing() {
  const pathname = useLocation({ select: ({ pathname }) => pathname })
  return (
    <>
      <PageHead title="Page not found" />
      <div className={styles.alone}>
        <p>{pageTexts.gone('Page', pathname)}</p>
        <LinkButton variant="default" to="/">
          {navigationTexts.home}
        </LinkButton>
      </div>
    </>
  )
}
