/** Positions of readers of the log that deliver nothing, each with one for a partition. */
export interface PlaceStore {
  /** By partition. */
  of(reader: string): Promise<ReadonlyMap<number, number>>
  /** @throws FencedError */
  write(place: { reader: string; partition: number; offset: number }): Promise<void>
}
