import { type RefObject, useEffect, useSyncExternalStore } from 'react'

/** A key, or a sequence of two such as `g s`. */
export interface KeyBinding {
  readonly keys: string
  /** Its action, for the list of keys. */
  readonly text: string
  readonly run: () => void
  /**
   * While the focus is in this element, its binding wins over others with the same key: each table has its own rows.
   */
  readonly within?: RefObject<HTMLElement | null>
}

const PREFERENCE = 'millrace.keys'
/** Maximum time between the two keys of a sequence. */
const CHORD_MS = 1_500

let bindings: readonly KeyBinding[] = []
const listeners = new Set<() => void>()

/** Binds keys while the component is mounted; the last binding of a key wins. Pass a stable list. */
export function useKeys(own: readonly KeyBinding[]): void {
  useEffect(() => {
    bindings = [...own, ...bindings]
    tell()
    return () => {
      bindings = bindings.filter((each) => !own.includes(each))
      tell()
    }
  }, [own])
}

/** Every active key, without repetitions. */
export function useAllKeys(): readonly KeyBinding[] {
  return useSyncExternalStore(watch, () => bindings)
}

/** Whether single keys are active: users of dictation or screen readers can disable them. */
export function useAreKeysOn(): readonly [boolean, (on: boolean) => void] {
  const isOn = useSyncExternalStore(watch, areKeysOn)
  const set = (on: boolean) => {
    if (on) localStorage.removeItem(PREFERENCE)
    else localStorage.setItem(PREFERENCE, 'off')
    tell()
  }
  return [isOn, set]
}

/** Listens for keys while mounted; use it once, in the frame of the pages. */
export function useKeyListener(): void {
  useEffect(() => {
    let first: { readonly key: string; readonly at: number } | undefined
    const onKeyDown = (event: KeyboardEvent) => {
      if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented || !areKeysOn()) return
      if (isForSomethingElse(event.target) || isPress(event)) return
      const chord =
        first !== undefined && event.timeStamp - first.at < CHORD_MS ? `${first.key} ${event.key}` : undefined
      first = undefined
      const bound = boundTo(chord, event.target) ?? boundTo(event.key, event.target)
      if (bound !== undefined) {
        event.preventDefault()
        bound.run()
      } else if (bindings.some(({ keys }) => keys.startsWith(`${event.key} `))) {
        first = { key: event.key, at: event.timeStamp }
      }
    }
    window.addEventListener('keydown', onKeyDown)
    return () => window.removeEventListener('keydown', onKeyDown)
  }, [])
}

function boundTo(sought: string | undefined, target: EventTarget | null): KeyBinding | undefined {
  const bound = bindings.filter(({ keys }) => keys === sought)
  return bound.find(({ within }) => within?.current?.contains(target as Node)) ?? bound[0]
}

/** In text fields and dialogs, keys have their own meaning. */
function isForSomethingElse(target: EventTarget | null): boolean {
  return (
    target instanceof Element &&
    target.closest('input, textarea, select, [contenteditable="true"], [role="dialog"], [role="menu"]') !== null
  )
}

/** Space activates the focused element. */
function isPress({ key, target }: KeyboardEvent): boolean {
  return key === ' ' && target instanceof Element && target.closest('button, summary') !== null
}

function areKeysOn(): boolean {
  return localStorage.getItem(PREFERENCE) !== 'off'
}

function watch(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

function tell(): void {
  for (const listener of listeners) listener()
}
