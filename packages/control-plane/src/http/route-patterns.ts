const ORDER = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE']

/** The methods of each path: distinguishes an unknown path (404) from a wrong method (405). */
export class RoutePatterns {
  readonly #methods = new Map<string, { pattern: RegExp; methods: Set<string> }>()

  /** @param url of a route, with parameters such as `:id`. */
  add(methods: readonly string[], url: string): void {
    const known = this.#methods.get(url) ?? { pattern: patternOf(url), methods: new Set<string>() }
    this.#methods.set(url, known)
    for (const method of methods) known.methods.add(method)
    if (known.methods.has('GET')) known.methods.add('HEAD')
  }

  /** In the order of Allow; empty for an unknown path. */
  methodsOf(path: string): string[] {
    const found = new Set<string>()
    for (const { pattern, methods } of this.#methods.values()) {
      if (pattern.test(path)) for (const method of methods) found.add(method)
    }
    return ORDER.filter((method) => found.has(method))
  }
}

function patternOf(url: string): RegExp {
  const segments = url.split('/').map((segment) => {
    if (segment.startsWith(':')) return '[^/]+'
    return segment === '*' ? '.*' : RegExp.escape(segment)
  })
  return new RegExp(`^${segments.join('/')}$`)
}
