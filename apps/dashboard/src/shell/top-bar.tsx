import { ActionIcon, UnstyledButton } from '@mantine/core'
import { Link, useLocation } from '@tanstack/react-router'
import { AccountMenu } from './account-menu.tsx'
import { HealthMark } from './health-mark.tsx'
import { Icon } from './icon.tsx'
import { sectionOf } from './navigation.ts'
import { useCurrentTitle } from './page/page-title.ts'
import styles from './shell.module.css'
import { ThemeMenu } from './theme-menu.tsx'

const KEYS = /mac|iphone|ipad/i.test(navigator.userAgent) ? '⌘ K' : 'Ctrl K'

interface TopBarProps {
  readonly onMenu: () => void
  readonly onSearch: () => void
  readonly onKeys: () => void
}

export function TopBar({ onMenu, onSearch, onKeys }: TopBarProps) {
  return (
    <header className={styles.bar}>
      <ActionIcon
        className={styles.menu}
        variant="subtle"
        color="gray"
        size={36}
        aria-label="Sections"
        onClick={onMenu}
      >
        <Icon name="menu" size={18} />
      </ActionIcon>
      <PagePath />
      <UnstyledButton className={styles.search} onClick={onSearch} aria-keyshortcuts="Control+K Meta+K">
        <Icon name="search" size={14} />
        <span className={styles.searchText}>Search or go to</span>
        <kbd className={styles.searchKeys}>{KEYS}</kbd>
      </UnstyledButton>
      <div className={styles.tools}>
        <HealthMark />
        <ThemeMenu />
        <AccountMenu onKeys={onKeys} />
      </div>
    </header>
  )
}

function PagePath() {
  const section = sectionOf(useLocation({ select: ({ pathname }) => pathname }))
  const title = useCurrentTitle()
  if (section === undefined) return <div className={styles.path} />
  return (
    <nav className={styles.path} aria-label="Path">
      <ol>
        <li>
          <Link to={section.path}>{section.text}</Link>
        </li>
        {title !== undefined && title !== section.text && (
          <li>
            <span className={styles.pathEnd} data-tip={title}>
              {title}
            </span>
          </li>
        )}
      </ol>
    </nav>
  )
}
