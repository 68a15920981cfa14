import { useMantineColorScheme } from '@mantine/core'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { readingDestinations } from '../../api/destinations.ts'
import { readingSources } from '../../api/sources.ts'
import { readingTransformations } from '../../api/transformations.ts'
import { isPartOf } from '../../components/part-of.ts'
import { paletteTexts } from '../../texts.ts'
import type { IconName } from '../icon.tsx'
import { SECTIONS, SETTINGS_TABS } from '../navigation.ts'

/** Maximum of each kind; with more matches the user types another letter. */
const MAX_PER_KIND = 8

export type PaletteEntry = {
  readonly key: string
  readonly text: string
  /** Its kind, in a word. */
  readonly kind: string
  readonly icon: IconName
} & (
  | { readonly run: () => void }
  | {
      readonly to: string
      readonly params?: Readonly<Record<string, string>>
      readonly search?: Readonly<Record<string, string>>
    }
)

interface Resource {
  readonly id: string
  /** Transformations have none. */
  readonly key?: string
  readonly name: string
}

/** Key of the first entry for any text: it comes first where nothing matches. */
export const ANY_TEXT_KEY = 'trace'

export interface PaletteEntries {
  readonly entries: readonly PaletteEntry[]
  /** The server has not answered for these words, and has not failed. */
  readonly isSearching: boolean
}

/**
 * Entries that match the words: pages, actions, resources; then entries for any text. Resources of the last answer stay
 * until the next.
 *
 * @param asked the words after a short pause, which the server searches.
 */
export function usePaletteEntries(words: string, asked: string, onKeys: () => void): PaletteEntries {
  const { setColorScheme } = useMantineColorScheme()
  const query = asked === '' ? {} : { q: asked }
  const sources = useQuery({ ...readingSources(query), placeholderData: keepPreviousData })
  const destinations = useQuery({ ...readingDestinations(query), placeholderData: keepPreviousData })
  const transformations = useQuery({ ...readingTransformations(query), placeholderData: keepPreviousData })
  const isSearching =
    words !== asked ||
    [sources, destinations, transformations].some(({ isPending, isPlaceholderData }) => isPending || isPlaceholderData)
  const found = [
    { kind: 'Source', icon: 'source', path: '/sources/$id', list: sources.data },
    { kind: 'Destination', icon: 'destination', path: '/destinations/$id', list: destinations.data },
    { kind: 'Transformation', icon: 'code', path: '/transformations/$id', list: transformations.data },
  ] as const

  const pages: PaletteEntry[] = SECTIONS.filter(({ text }) => isPartOf(words, text)).map(({ path, text, icon }) => ({
    key: path,
    text,
    kind: 'Page',
    icon,
    to: path,
  }))
  const tabs: PaletteEntry[] = SETTINGS_TABS.filter(({ text }) => words !== '' && isPartOf(words, text)).map(
    ({ text, to }) => ({ key: to, text, kind: 'Settings', icon: 'settings', to }),
  )
  const actions: PaletteEntry[] = [
    { key: 'new-source', text: 'New source', kind: 'Action', icon: 'plus', to: '/sources/new' } as const,
    { key: 'new-destination', text: 'New destination', kind: 'Action', icon: 'plus', to: '/destinations/new' } as const,
    {
      key: 'new-token',
      text: 'New access token',
      kind: 'Action',
      icon: 'plus',
      to: '/settings/account',
      search: { new: '1' },
    } as const,
  ].filter(({ text }) => isPartOf(words, text))
  const more: PaletteEntry[] = [
    { key: 'light', text: 'Light theme', kind: 'Action', icon: 'sun', run: () => setColorScheme('light') } as const,
    { key: 'dark', text: 'Dark theme', kind: 'Action', icon: 'moon', run: () => setColorScheme('dark') } as const,
    { key: 'keys', text: 'Show keyboard shortcuts', kind: 'Action', icon: 'menu', run: onKeys } as const,
  ].filter(({ text }) => isPartOf(words, text))
  if (words === '') return { entries: [...pages, ...actions, ...more], isSearching }

  const resources: PaletteEntry[] = found.flatMap(({ kind, icon, path, list }) =>
    ((list ?? []) as readonly Resource[])
      .filter(({ id, key = '', name }) => isPartOf(words, name, key) || id === words)
      .slice(0, MAX_PER_KIND)
      .map(({ id, name }) => ({ key: id, text: name, kind, icon, to: path, params: { id } })),
  )
  const anyText: PaletteEntry[] = [
    {
      key: ANY_TEXT_KEY,
      text: paletteTexts.traceMessage(words),
      kind: 'Event',
      icon: 'events',
      to: '/events/$messageId',
      params: { messageId: words },
    },
    {
      key: 'user',
      text: paletteTexts.eventsOfUser(words),
      kind: 'Events',
      icon: 'person',
      to: '/events',
      search: { user: words },
    },
  ]
  // If no other entry matches, this comes first: the user can paste and press Enter.
  return { entries: [...resources, ...pages, ...tabs, ...actions, ...more, ...anyText], isSearching }
}
