/** Keys pressed between the shortcut that opens a field and the moment when the field has the focus. */
interface HeldKeys {
  readonly text: string
  readonly isEntered: boolean
}

const NOTHING: HeldKeys = { text: '', isEntered: false }

let held: HeldKeys | undefined
let stop: () => void = () => {}

/** Holds back all keys from the page until they are taken. @param onEscape the user cancels the opening. */
export function holdKeys(onEscape: () => void): void {
  if (held !== undefined) return
  held = NOTHING
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return
    event.preventDefault()
    event.stopPropagation()
    const { text, isEntered } = held!
    if (event.key === 'Escape') {
      takeHeldKeys()
      onEscape()
    } else if (event.key === 'Enter') held = { text, isEntered: true }
    else if (event.key === 'Backspace') held = { text: text.slice(0, -1), isEntered }
    else if (event.key.length === 1) held = { text: text + event.key, isEntered }
  }
  const onPaste = (event: ClipboardEvent) => {
    event.preventDefault()
    held = { ...held!, text: held!.text + (event.clipboardData?.getData('text') ?? '') }
  }
  window.addEventListener('keydown', onKeyDown, { capture: true })
  window.addEventListener('paste', onPaste, { capture: true })
  stop = () => {
    window.removeEventListener('keydown', onKeyDown, { capture: true })
    window.removeEventListener('paste', onPaste, { capture: true })
  }
}

/** Releases the keys to the page. @returns the keys that were held. */
export function takeHeldKeys(): HeldKeys {
  stop()
  const taken = held ?? NOTHING
  held = undefined
  return taken
}
