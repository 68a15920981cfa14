import { useEffect, useRef } from 'react'

/** Ctrl or ⌘ and a letter, wherever the focus is; suppresses the browser's own shortcut. */
export function useControlKey(letter: string, run: () => void): void {
  const latest = useRef(run)
  useEffect(() => {
    latest.current = run
  })
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => {
      const isControl = (event.ctrlKey || event.metaKey) && !event.altKey && !event.shiftKey
      if (!isControl || event.key.toLowerCase() !== letter) return
      event.preventDefault()
      latest.current()
    }
    // Runs before the editor, which uses some of these keys.
    window.addEventListener('keydown', onKeyDown, { capture: true })
    return () => window.removeEventListener('keydown', onKeyDown, { capture: true })
  }, [letter])
}
