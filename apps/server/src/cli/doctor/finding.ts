/** What the doctor says of one thing. */
export interface Finding {
  readonly verdict: 'ok' | 'warn' | 'fail'
  readonly what: string
  /** A line for people: what is so and, where it is not well, what to do. */
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
