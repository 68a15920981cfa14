import { useSyncExternalStore } from 'react'

const NARROW = window.matchMedia('(max-width: 899.98px)')

/** Below 900 px, where rows are cards and panes are tabs. */
export function useIsNarrow(): boolean {
  return useSyncExternalStore(
    (listener) => {
      NARROW.addEventListener('change', listener)
      return () => NARROW.removeEventListener('change', listener)
    },
    () => NARROW.matches,
  )
}
