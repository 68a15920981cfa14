/** What is left of a name in any letter case and spacing: `Order Completed`, `order_completed` and `orderCompleted` are the same. */
export function lettersOf(name: string): string {
  return name
    .normalize('NFC')
    .toLowerCase()
    .replace(/[^\p{L}\p{M}\p{N}]+/gu, '')
}

/** Looks names up in a table, in any letter case and spacing. */
export function byLetters<T>(table: Readonly<Record<string, T>>): (name: string) => T | undefined {
  const values = new Map(Object.entries(table).map(([name, value]) => [lettersOf(name), value]))
  return (name) => values.get(lettersOf(name))
}
