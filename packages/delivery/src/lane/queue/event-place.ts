/** Place of an event in the log; `stream` is the index of its stream in the log's list of streams. */
export interface EventPlace {
  readonly partition: number
  readonly stream: number
  readonly offset: number
  readonly index: number
}
