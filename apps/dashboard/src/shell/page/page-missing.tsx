import { useLocation } from '@tanstack/react-router'
import { pageTexts } from '../../texts.ts'
import styles from '../shell.module.css'

export function PageMissing() {
  const pathname = useLocation({ select: ({ pathname }) => pathname })
  return (
    <div className={styles.alone}>
      <p>{pageTexts.gone('Page', pathname)}</p>
    </div>
  )
}
