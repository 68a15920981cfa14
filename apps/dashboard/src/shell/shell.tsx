import { Drawer } from '@mantine/core'
import { useRouter } from '@tanstack/react-router'
import { lazy, type ReactNode, Suspense, useMemo, useState } from 'react'
import { type KeyBinding, useKeyListener, useKeys } from './keys.ts'
import { LinkNotice } from './link-notice.tsx'
import { SECTIONS } from './navigation.ts'
import styles from './shell.module.css'
import { SideNavigation } from './side-navigation.tsx'
import { TopBar } from './top-bar.tsx'
import { useControlKey } from './use-control-key.ts'

const Palette = lazy(() => import('./palette.tsx').then(({ Palette }) => ({ default: Palette })))
const KeyList = lazy(() => import('./key-list.tsx').then(({ KeyList }) => ({ default: KeyList })))

/** Left the sections, on top path, search, health, theme and account. */
export function Shell({ children }: { readonly children: ReactNode }) {
  const [open, setOpen] = useState<'drawer' | 'palette' | 'keys'>()
  const close = () => setOpen(undefined)
  const router = useRouter()
  const keys = useMemo<KeyBinding[]>(() => {
    return [
      ...SECTIONS.map(({ text, path, letter }) => ({
        keys: `g ${letter}`,
        text: `Go to ${text}`,
        run: () => void router.navigate({ to: path }),
      })),
      { keys: '/', text: 'Go to the filter', run: focusFilter },
      { keys: '?', text: 'List all keys', run: () => setOpen('keys') },
    ]
  }, [router])
  useKeys(keys)
  useKeyListener()
  useControlKey('k', () => setOpen('palette'))

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
      <TopBar onMenu={() => setOpen('drawer')} onSearch={() => setOpen('palette')} onKeys={() => setOpen('keys')} />
      <main id="page" className={styles.page} tabIndex={-1}>
        <LinkNotice />
        <Suspense fallback={<div aria-busy="true" />}>{children}</Suspense>
      </main>
      <Suspense>
        {open === 'palette' && <Palette onClose={close} onKeys={() => setOpen('keys')} />}
        {open === 'keys' && <KeyList onClose={close} />}
      </Suspense>
    </div>
  )
}

/** The first filter of a page carries `data-filter`. */
function focusFilter(): void {
  document.querySelector<HTMLElement>('main [data-filter]')?.focus()
}
