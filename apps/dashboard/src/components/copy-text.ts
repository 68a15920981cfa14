/** @returns whether the browser copied it. */
export async function copyText(text: string): Promise<boolean> {
  try {
    // Missing on plain http from another machine.
    await navigator.clipboard.writeText(text)
    return true
  } catch {
    return copySelected(text)
  }
}

function copySelected(text: string): boolean {
  const area = document.createElement('textarea')
  area.value = text
  area.style.position = 'fixed'
  area.style.opacity = '0'
  const focused = document.activeElement
  // Placed inside an open dialog, which keeps the focus.
  const parent = focused?.closest('[role="dialog"]') ?? document.body
  parent.append(area)
  area.select()
  const isDone = document.execCommand('copy')
  area.remove()
  if (focused instanceof HTMLElement) focused.focus()
  return isDone
}
