import { diffArrays } from 'diff'

export interface DiffRow {
  readonly kind: 'same' | 'added' | 'removed'
  readonly text: string
}

/** Texts with more changed lines appear as one removal and one addition: searching them would block the page. */
const MAX_CHANGES = 1_000

/** Aligns the lines of `before` and `after` with the fewest changes; removed lines come before added ones. */
export function lineDiff(before: string, after: string): DiffRow[] {
  const [a, b] = [before.split('\n'), after.split('\n')]
  const changes = diffArrays(a, b, { maxEditLength: MAX_CHANGES }) ?? [
    { removed: true, added: false, value: a },
    { removed: false, added: true, value: b },
  ]
  return changes.flatMap(({ removed, added, value }) => {
    const kind = removed ? 'removed' : added ? 'added' : 'same'
    return value.map((text) => ({ kind, text }) as const)
  })
}
