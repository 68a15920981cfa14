import { Drawer } from '@mantine/core'
import { useRouter } from '@tanstack/react-router'
import { type ReactNode, Suspense, useEffect, useMemo, useState } from 'react'
import { lazyPart } from '../components/lazy-part.ts'
import { Loading } from '../components/states/loading.tsx'
import { holdKeys, takeHeldKeys } from './keys/held-keys.ts'
import { type KeyBinding, useKeyListener, useKeys } from './keys/keys.ts'
import { useControlKey } from './keys/use-control-key.ts'
import { LinkNotice } from './link-notice.tsx'
import { LoadNotice } from './load-notice.tsx'
import { SECTIONS } from './navigation.ts'
import styles from './shell.module.css'
import { SideNavigation } from './side-navigation.tsx'
import { TopBar } from './top-bar.tsx'

const loadPalette = () => import('./palette/palette.tsx').then(({ Palette }) => ({ default: Palette }))
const Palette = lazyPart(loadPalette)
const KeyList = lazyPart(() => import('./keys/key-list.tsx').then(({ KeyList }) => ({ default: KeyList })))

/** After this time the first page has loaded its data. */
const IDLE_MS = 2_000

/** Navigation on the left; breadcrumb, search, health, theme and account at the top. */
export function Shell({ children }: { readonly children: ReactNode }) {
  const [open, setOpen] = useState<'drawer' | 'palette' | 'keys'>()
  const close = () => {
    takeHeldKeys()
    setOpen(undefined)
  }
  const openPalette = () => {
    if (open === 'palette') return
    holdKeys(close)
    setOpen('palette')
  }
  usePaletteSoon()
  const router = useRouter()
  const keys = useMemo<KeyBinding[]>(() => {
    return [
      ...SECTIONS.map(({ text, path, letter }) => ({
        keys: `g ${letter}`,
        text: `Go to ${text}`,
        run: () => void router.navigate({ to: path }),
      })),
      { keys: '/', text: 'Go to the filter', run: focusFilter },
      { keys: '?', text: 'Show keyboard shortcuts', run: () => setOpen('keys') },
    ]
  }, [router])
  useKeys(keys)
  useKeyListener()
  useControlKey('k', openPalette)

  return (
    <div className={styles.shell}>
      <a className={styles.skip} href="#page">
        Skip to the page
      </a>
      <aside className={styles.side}>
        <SideNavigation />
      </aside>
      <Drawer
        opened={open === 'drawer'}
        onClose={close}
        size={260}
        title="Millrace"
        closeButtonProps={{ 'aria-label': 'Close' }}
      >
        <SideNavigation onNavigate={close} />
      </Drawer>
      <TopBar onMenu={() => setOpen('drawer')} onSearch={openPalette} onKeys={() => setOpen('keys')} />
      <main id="page" className={styles.page} tabIndex={-1}>
        <LoadNotice />
        <LinkNotice />
        <Suspense fallback={<Loading />}>{children}</Suspense>
      </main>
      <Suspense>
        {open === 'palette' && <Palette onClose={close} onKeys={() => setOpen('keys')} />}
        {open === 'keys' && <KeyList onClose={close} />}
      </Suspense>
    </div>
  )
}

/** Preloaded, so it opens even while the server is away. */
function usePaletteSoon(): void {
  useEffect(() => {
    const timer = setTimeout(() => void loadPalette().catch(() => {}), IDLE_MS)
    return () => clearTimeout(timer)
  }, [])
}

/** The first filter of a page has `data-filter`. */
function focusFilter(): void {
  document.querySelector<HTMLElement>('main [data-filter]')?.focus()
}
