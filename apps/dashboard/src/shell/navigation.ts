import { navigationTexts as texts } from '../texts.ts'
import type { IconName } from './icon.tsx'

interface Section {
  readonly text: string
  readonly path: string
  /** Key after `g`. */
  readonly letter: string
  readonly icon: IconName
}

/** The sections of the navigation, in order. */
export const SECTIONS: readonly Section[] = [
  { text: texts.home, path: '/', letter: 'h', icon: 'home' },
  { text: texts.events, path: '/events', letter: 'e', icon: 'events' },
  { text: texts.sources, path: '/sources', letter: 's', icon: 'source' },
  { text: texts.transformations, path: '/transformations', letter: 't', icon: 'code' },
  { text: texts.destinations, path: '/destinations', letter: 'd', icon: 'destination' },
  { text: texts.testBench, path: '/test', letter: 'b', icon: 'bench' },
  { text: texts.deadLetters, path: '/dead-letters', letter: 'x', icon: 'dead' },
  { text: texts.replays, path: '/replays', letter: 'r', icon: 'replay' },
  { text: texts.schema, path: '/schema', letter: 'm', icon: 'schema' },
  { text: texts.settings, path: '/settings', letter: 'c', icon: 'settings' },
]

/** The tabs of the settings, in order. */
export const SETTINGS_TABS = [
  { text: 'Account', to: '/settings/account' },
  { text: 'Users', to: '/settings/users' },
  { text: 'Credentials', to: '/settings/credentials' },
  { text: 'Audit', to: '/settings/audit' },
  { text: 'Configuration', to: '/settings/configuration' },
  { text: 'Health', to: '/settings/health' },
  { text: 'Backup', to: '/settings/backup' },
] as const

/** Sections of pages that lie beside them. */
const BESIDE: Readonly<Record<string, string>> = { '/libraries': '/transformations', '/connections': '/sources' }

/** The section of a path below /ui. */
export function sectionOf(pathname: string): Section | undefined {
  const isBelow = (path: string) => pathname === path || (path !== '/' && pathname.startsWith(`${path}/`))
  const beside = Object.keys(BESIDE).find(isBelow)
  return SECTIONS.find(({ path }) => isBelow(path) || (beside !== undefined && BESIDE[beside] === path))
}
