/**
 * The numbers of one part of a destination's limits. A part keeps its state here and nowhere else, so that it can lie in memory
 * that several threads share. Counts and states are integers; times are floats.
 */
export interface Cells {
  readonly ints: Int32Array
  readonly floats: Float64Array
}

/** Cells that only this thread sees. */
export function privateCells(ints: number, floats: number): Cells {
  return { ints: new Int32Array(ints), floats: new Float64Array(floats) }
}
