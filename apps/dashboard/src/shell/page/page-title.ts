import { useEffect, useSyncExternalStore } from 'react'

const PRODUCT = 'Millrace'
let current: string | undefined
const listeners = new Set<() => void>()

/** Sets the name of the page's subject, such as a source, in the breadcrumb and the browser's tab. */
export function usePageTitle(title: string | undefined): void {
  useEffect(() => {
    set(title)
    return () => set(undefined)
  }, [title])
}

export function useCurrentTitle(): string | undefined {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    () => current,
  )
}

export function tabTitle(...parts: readonly (string | undefined)[]): string {
  const given = parts.filter((part, at) => part !== undefined && parts.indexOf(part) === at)
  return [...given, PRODUCT].join(' · ')
}

function set(title: string | undefined): void {
  current = title
  for (const listener of listeners) listener()
}
