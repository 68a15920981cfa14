/** A part of the end-to-end tests whose result differs over a cluster, by contract. */
export interface Difference {
  readonly file: string
  /** Parts of the names of tests; default: all of the file. */
  readonly tests?: readonly string[]
  readonly why: string
}

/** Files whose subject is an embedded server: they start it as a process, and look into its data folder. */
export const EMBEDDED_ONLY: readonly Pick<Difference, 'file' | 'why'>[] = []

/** Tests that must fail over a cluster. */
export const DIFFERENCES: readonly Difference[] = []
