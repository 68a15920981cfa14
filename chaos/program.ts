export type Size = 'short' | 'full'

/** One way to break the running product from outside, and what must hold all the same. */
export interface Program {
  /** As in the plan of what reliable means: R1, R2, …; CAT is the schema catalog's own. */
  readonly id: string
  readonly title: string
  /** It is given up, and counts as broken, after this time. The short form is what CI runs. */
  readonly limitSeconds: Readonly<Record<Size, number>>
  /** Delivery threads of the product unless a run says otherwise. Default 1. */
  readonly threads?: number
  /** Why it cannot be done on this machine. */
  readonly cannotRun?: () => string | undefined
  /** @returns what was counted, for its line: `200 kills`, `0 lost`. @throws Error if it cannot go on: it is broken then. */
  readonly run: (run: Run) => Promise<readonly string[]>
}

/** What a program is given for one run. */
export interface Run {
  readonly size: Size
  /** The number of rounds, events or kills of this form. */
  pick<T>(of: Readonly<Record<Size, T>>): T
  readonly random: () => number
  /** Empty, and removed afterwards. */
  readonly folder: string
  /** Once the run is over, in time or not. */
  readonly signal: AbortSignal
  /** What is going on, for whoever watches. */
  say(what: string): void
  /** Notes what broke unless it holds; the program goes on. */
  check(holds: boolean, whatBroke: string): void
  /** Asks again and again for up to `ms`; notes what broke if it never held. @returns whether it held. */
  eventually(holds: () => boolean | Promise<boolean>, ms: number, whatBroke: () => string): Promise<boolean>
}

/** A number as people read it, with its noun. */
export function counted(count: number, noun: string): string {
  return `${count.toLocaleString('en-US')} ${noun}`
}

export function seconds(ms: number): string {
  return `${(ms / 1_000).toLocaleString('en-US', { maximumFractionDigits: 1 })} s`
}
