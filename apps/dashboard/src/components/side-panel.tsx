import { ActionIcon } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { type ReactNode, useEffect, useMemo, useRef } from 'react'
import { Icon } from '../shell/icon.tsx'
import { type KeyBinding, useKeys } from '../shell/keys/keys.ts'
import styles from './side-panel.module.css'

interface SidePanelProps {
  /** Title of the panel: `Event m-88`. */
  readonly label: string
  readonly title: ReactNode
  /** Link to the full page. */
  readonly to?: string
  readonly onClose: () => void
  readonly children: ReactNode
}

/** A panel beside a list; Esc closes it and restores the focus. */
export function SidePanel({ label, title, to, onClose, children }: SidePanelProps) {
  const panel = useRef<HTMLElement>(null)
  const close = useRef(onClose)
  close.current = onClose
  useKeys(useMemo<KeyBinding[]>(() => [{ keys: 'Escape', text: 'Close the panel', run: () => close.current() }], []))
  useEffect(() => {
    const before = document.activeElement
    panel.current?.focus({ preventScroll: true })
    return () => {
      if (before instanceof HTMLElement && before.isConnected) before.focus({ preventScroll: true })
    }
  }, [])
  return (
    <section ref={panel} className={styles.panel} aria-label={label} tabIndex={-1}>
      <div className={styles.head}>
        <h2 className={styles.title}>{title}</h2>
        {to !== undefined && (
          <Link to={to} className={styles.page} data-tip="Open as a page" aria-label="Open as a page">
            <Icon name="right" size={14} />
          </Link>
        )}
        <ActionIcon variant="subtle" color="gray" size={28} aria-label="Close the panel" onClick={onClose}>
          <Icon name="close" />
        </ActionIcon>
      </div>
      <div className={styles.body}>{children}</div>
    </section>
  )
}
