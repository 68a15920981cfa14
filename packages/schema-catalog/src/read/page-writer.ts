import type { ListPage, PlaceInList } from '../thread/catalog-calls.ts'

/** A page ends when it has so many bytes: whoever reads it waits no longer than for these. */
const PAGE_BYTES = 256 * 1024
const COMMA = Buffer.from(',')

/** Gathers a page of a list: what is kept as UTF-8 goes out as it is, and no text is made of it in between. */
export class PageWriter {
  readonly #parts: Uint8Array[] = []
  #bytes = 0
  #count = 0

  get isFull(): boolean {
    return this.#bytes >= PAGE_BYTES
  }

  /** @param parts of the JSON of one item. */
  add(...parts: readonly (string | Uint8Array)[]): void {
    if (this.#count > 0) this.#put(COMMA)
    for (const part of parts) this.#put(typeof part === 'string' ? Buffer.from(part) : part)
    this.#count++
  }

  /** @param after where the next page begins. */
  finish(after: PlaceInList | undefined): ListPage {
    const bytes = new Uint8Array(this.#bytes)
    let at = 0
    for (const part of this.#parts) {
      bytes.set(part, at)
      at += part.length
    }
    return { count: this.#count, bytes, after }
  }

  #put(part: Uint8Array): void {
    this.#parts.push(part)
    this.#bytes += part.length
  }
}
