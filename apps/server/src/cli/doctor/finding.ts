/** The result of one check. */
export interface Finding {
  readonly verdict: 'ok' | 'warn' | 'fail'
  readonly what: string
  /** A line for people: the state and, for a problem, the advice. */
  readonly text: string
}

export function ok(what: string, text: string): Finding {
  return { verdict: 'ok', what, text }
}

export function warn(what: string, text: string): Finding {
  return { verdict: 'warn', what, text }
}

export function fail(what: string, text: string): Finding {
  return { verdict: 'fail', what, text }
}
