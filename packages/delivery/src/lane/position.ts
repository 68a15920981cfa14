/** A place in a stream; everything before it is finished. */
export interface Position {
  readonly offset: number
  readonly index: number
}
