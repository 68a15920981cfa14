const MAX_KEPT = 100

/**
 * The last answer of each path. A page reads its lists again each time it opens, and they have rarely changed: an equal
 * text returns the same object, without parsing or comparing its members.
 */
export class LastAnswers {
  readonly #kept = new Map<string, { readonly text: string; readonly body: unknown }>()

  /** @throws SyntaxError */
  read(path: string, text: string): unknown {
    const last = this.#kept.get(path)
    const answer = last?.text === text ? last : { text, body: JSON.parse(text) as unknown }
    // Removes the path that was requested longest ago.
    this.#kept.delete(path)
    this.#kept.set(path, answer)
    for (const oldest of this.#kept.keys()) {
      if (this.#kept.size <= MAX_KEPT) break
      this.#kept.delete(oldest)
    }
    return answer.body
  }
}
