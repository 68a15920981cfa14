import { Link, useLocation } from '@tanstack/react-router'
import { Icon } from './icon.tsx'
import { Mark } from './mark.tsx'
import { SECTIONS, sectionOf } from './navigation.ts'
import styles from './shell.module.css'

export function SideNavigation({ onNavigate }: { readonly onNavigate?: () => void }) {
  const current = sectionOf(useLocation({ select: ({ pathname }) => pathname }))
  return (
    <nav className={styles.nav} aria-label="Sections">
      <Link to="/" className={styles.brand} onClick={onNavigate} aria-label="Millrace, home">
        <Mark />
        <span>Millrace</span>
      </Link>
      <ul className={styles.sections}>
        {SECTIONS.map(({ text, path, icon }) => (
          <li key={path}>
            <Link
              to={path}
              className={styles.section}
              aria-current={current?.path === path ? 'page' : undefined}
              onClick={onNavigate}
            >
              <Icon name={icon} />
              {text}
            </Link>
          </li>
        ))}
      </ul>
    </nav>
  )
}
