const MAX_LENGTH = 64

/**
 * The key of a new resource: its name in the form `[a-z0-9-]{1,64}`, with a number appended if another resource has
 * that key.
 *
 * @param kind replaces a name without any usable character.
 *
 * @see contracts/control-plane.md §9
 */
export function resourceKey(name: string, kind: string, others: Iterable<{ readonly key: string }>): string {
  const taken = new Set(Array.from(others, (other) => other.key))
  const plain = name
    .normalize('NFKD')
    .toLowerCase()
    .replace(/\p{M}/gu, '')
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, MAX_LENGTH)
    .replace(/^-|-$/g, '')
  const key = plain === '' ? kind : plain
  for (let n = 1; ; n++) {
    const end = n === 1 ? '' : `-${n}`
    const candidate = key.slice(0, MAX_LENGTH - end.length) + end
    if (!taken.has(candidate)) return candidate
  }
}
