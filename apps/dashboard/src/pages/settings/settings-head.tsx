import { useLocation } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { SETTINGS_TABS } from '../../shell/navigation.ts'
import { PageHead } from '../../shell/page/page-head.tsx'

/** The head of every page of the settings. */
export function SettingsHead({ actions }: { readonly actions?: ReactNode }) {
  const pathname = useLocation({ select: ({ pathname }) => pathname })
  const tabs = SETTINGS_TABS.map((tab) => ({ ...tab, isCurrent: tab.to === pathname }))
  return <PageHead title="Settings" actions={actions} tabs={tabs} />
}
