import { HEAD_BYTES, SLOT_BYTES, textKey } from '../observe/frequent-values.ts'
import type { WrittenValues } from '../observe/value-table.ts'

interface Merged {
  observations: number
  reduced: number
  readonly counts: Map<number, { count: number; text: string | undefined }>
}

/** Frequent values of several versions, added up key by key. */
export class MergedValues {
  readonly #byPath = new Map<string, Merged>()

  /**
   * @param paths of the keys in the table, in its order.
   * @param observations of each key.
   * @see FrequentValues.write
   */
  add(paths: readonly string[], observations: (key: number) => number, { counters, texts }: WrittenValues): void {
    const view = new DataView(counters.buffer, counters.byteOffset, counters.byteLength)
    const rest = (JSON.parse(texts) as string[]).values()
    let at = 0
    for (const [key, path] of paths.entries()) {
      if (at >= view.byteLength) break
      const merged = this.#of(path)
      merged.observations += observations(key)
      merged.reduced += view.getFloat64(at, true)
      const used = view.getUint32(at + 12, true)
      at += HEAD_BYTES
      for (let i = 0; i < used; i++, at += SLOT_BYTES) {
        const high = view.getInt32(at + 4, true)
        const text = (high & 1) === 0 ? undefined : (rest.next().value as string)
        const hash = textKey(view.getInt32(at, true), high)
        const count = view.getFloat64(at + 8, true)
        const known = merged.counts.get(hash)
        if (known === undefined) merged.counts.set(hash, { count, text })
        else {
          known.count += count
          known.text ??= text
        }
      }
    }
  }

  /** The JSON of FrequentValues. @param per one in so many is frequent. @see contracts/schema-catalog.md §7 [D322] [D324] */
  json(per: number): string {
    const members: string[] = []
    for (const [path, { observations, reduced, counts }] of this.#byPath) {
      const frequent: { Value: string; Frequency: number }[] = []
      for (const { count, text } of counts.values()) {
        // The true count lies between `count` and `count + reduced`.
        if (text !== undefined && (count + reduced) * per >= observations) {
          frequent.push({ Value: text, Frequency: count })
        }
      }
      if (frequent.length === 0) continue
      frequent.sort((a, b) => b.Frequency - a.Frequency || (a.Value < b.Value ? -1 : 1))
      members.push(`${JSON.stringify(path)}:${JSON.stringify(frequent)}`)
    }
    return `{${members.join(',')}}`
  }

  #of(path: string): Merged {
    let merged = this.#byPath.get(path)
    if (merged === undefined) {
      merged = { observations: 0, reduced: 0, counts: new Map() }
      this.#byPath.set(path, merged)
    }
    return merged
  }
}
