import { useState } from 'react'

/**
 * What a field holds while it is written, such as a text that is not JSON yet. A save may answer with another value, such as masked
 * secrets: the draft then follows it. The controls stay, and so does the focus.
 *
 * @param saves count of saves.
 * @param draftOf makes the draft of a value. @param before the draft that it replaces.
 * @returns the draft, and what keeps a changed one with its value.
 */
export function useDraft<V, D>(
  value: V,
  saves: number,
  draftOf: (value: V, before?: D) => D,
): readonly [draft: D, keep: (draft: D, value: V) => void] {
  // `of` is the value that the draft stands for, as JSON.
  const [kept, setKept] = useState(() => ({ saves, of: JSON.stringify(value), draft: draftOf(value) }))
  let now = kept
  if (kept.saves !== saves) {
    const of = JSON.stringify(value)
    now = of === kept.of ? { ...kept, saves } : { saves, of, draft: draftOf(value, kept.draft) }
    setKept(now)
  }
  return [now.draft, (draft, written) => setKept({ saves, of: JSON.stringify(written), draft })]
}
