import { useLocation } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { PageHead } from '../../shell/page-head.tsx'

const TABS = [
  { text: 'Account', to: '/settings/account' },
  { text: 'Users', to: '/settings/users' },
  { text: 'Credentials', to: '/settings/credentials' },
  { text: 'Audit', to: '/settings/audit' },
  { text: 'Configuration', to: '/settings/configuration' },
  { text: 'Health', to: '/settings/health' },
  { text: 'Backup', to: '/settings/backup' },
]

/** The head of every page of the settings. */
export function SettingsHead({ actions }: { readonly actions?: ReactNode }) {
  const pathname = useLocation({ select: ({ pathname }) => pathname })
  const tabs = TABS.map((tab) => ({ ...tab, isCurrent: tab.to === pathname }))
  return <PageHead title="Settings" actions={actions} tabs={tabs} />
}
