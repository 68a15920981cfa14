const MAX_KEPT = 100

/**
 * What was answered last on each path. Lists of thousands are read again each time a page is opened, and mostly are what they
 * were: the same text is the same object again, neither parsed nor compared member by member.
 */
export class LastAnswers {
  readonly #kept = new Map<string, { readonly text: string; readonly body: unknown }>()

  /** @throws SyntaxError */
  read(path: string, text: string): unknown {
    const last = this.#kept.get(path)
    const answer = last?.text === text ? last : { text, body: JSON.parse(text) as unknown }
    // The one that was asked for least lately goes first.
    this.#kept.delete(path)
    this.#kept.set(path, answer)
    for (const oldest of this.#kept.keys()) {
      if (this.#kept.size <= MAX_KEPT) break
      this.#kept.delete(oldest)
    }
    return answer.body
  }
}
