import type { Bench } from './bench.ts'

/** A line of the table. */
export interface Row {
  /** As in the plan: P1, P2, … */
  readonly name: string
  readonly figure: string
  readonly goal: string
  readonly measure: (bench: Bench) => Promise<Measured>
}

/** Texts with their units, as the table shows them. */
export interface Measured {
  readonly measured: string
  /** The same figure of the limit program in the same run. */
  readonly limit?: string
  /** Measured over limit: the median of the pairs. */
  readonly ratio?: number
  /** How far the middle half reaches: of the ratios if there is a limit, else of the figure. */
  readonly spread?: string
  /** Everything that was measured, in order, for --json. */
  readonly samples: Readonly<Record<string, readonly number[]>>
}

/** For rows that show different figures of the same runs. */
export function oncePerBench<T>(measure: (bench: Bench) => Promise<T>): (bench: Bench) => Promise<T> {
  const measured = new WeakMap<Bench, Promise<T>>()
  return (bench) => {
    const result = measured.get(bench) ?? measure(bench)
    measured.set(bench, result)
    return result
  }
}
