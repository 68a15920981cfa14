export interface DiffRow {
  readonly kind: 'same' | 'added' | 'removed'
  readonly text: string
}

/** Work that is still done at once; beyond it what differs is told as a whole. */
const MAX_STEPS = 1_000_000

/**
 * The lines of `after` beside those of `before`, with the fewest changes (Myers 1986) as long as that is quickly found;
 * removed lines stand before added ones.
 */
export function lineDiff(before: string, after: string): DiffRow[] {
  const [a, b] = [before.split('\n'), after.split('\n')]
  let start = 0
  while (start < a.length && start < b.length && a[start] === b[start]) start++
  let end = 0
  while (end < a.length - start && end < b.length - start && a[a.length - 1 - end] === b[b.length - 1 - end]) end++
  const same = (text: string): DiffRow => ({ kind: 'same', text })
  return [
    ...a.slice(0, start).map(same),
    ...middleOf(a.slice(start, a.length - end), b.slice(start, b.length - end)),
    ...a.slice(a.length - end).map(same),
  ]
}

function middleOf(a: readonly string[], b: readonly string[]): DiffRow[] {
  const path = a.length === 0 || b.length === 0 ? undefined : shortestPath(a, b)
  return removedFirst(path ?? [...a.map(removed), ...b.map(added)])
}

/**
 * For d changes after each other, how far each diagonal k (x − y) gets; the ways back tell the changes. Undefined when
 * too much would have to be tried.
 */
function shortestPath(a: readonly string[], b: readonly string[]): DiffRow[] | undefined {
  const furthest = new Map<number, number>([[1, 0]])
  const ways: Map<number, number>[] = []
  let steps = 0
  for (let d = 0; d <= a.length + b.length; d++) {
    ways.push(new Map(furthest))
    for (let k = -d; k <= d; k += 2) {
      const isDown = k === -d || (k !== d && furthest.get(k - 1)! < furthest.get(k + 1)!)
      let x = isDown ? furthest.get(k + 1)! : furthest.get(k - 1)! + 1
      let y = x - k
      while (x < a.length && y < b.length && a[x] === b[y]) {
        x++
        y++
      }
      furthest.set(k, x)
      if (x >= a.length && y >= b.length) return wayBack(a, b, ways)
    }
    steps += d + ways[d]!.size
    if (steps > MAX_STEPS) return undefined
  }
  return undefined
}

function wayBack(a: readonly string[], b: readonly string[], ways: readonly Map<number, number>[]): DiffRow[] {
  const rows: DiffRow[] = []
  let [x, y] = [a.length, b.length]
  for (let d = ways.length - 1; d >= 0; d--) {
    const furthest = ways[d]!
    const k = x - y
    const isDown = k === -d || (k !== d && furthest.get(k - 1)! < furthest.get(k + 1)!)
    const fromX = furthest.get(isDown ? k + 1 : k - 1)!
    const fromY = fromX - (isDown ? k + 1 : k - 1)
    while (x > fromX && y > fromY && x > 0 && y > 0 && a[x - 1] === b[y - 1]) {
      rows.push({ kind: 'same', text: a[--x]! })
      y--
    }
    if (d === 0) break
    rows.push(isDown ? added(b[--y]!) : removed(a[--x]!))
  }
  return rows.reverse()
}

function removedFirst(rows: readonly DiffRow[]): DiffRow[] {
  const ordered: DiffRow[] = []
  let waiting: DiffRow[] = []
  for (const row of rows) {
    if (row.kind === 'added') waiting.push(row)
    else if (row.kind === 'removed') ordered.push(row)
    else {
      ordered.push(...waiting, row)
      waiting = []
    }
  }
  return [...ordered, ...waiting]
}

function added(text: string): DiffRow {
  return { kind: 'added', text }
}

function removed(text: string): DiffRow {
  return { kind: 'removed', text }
}
