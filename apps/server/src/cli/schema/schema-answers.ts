/** Answers of the schema API, as far as the commands show them. @see contracts/schema-catalog.md §6, §7 */
export interface EventModelAnswer {
  readonly ID: number
  readonly EventID: string
  readonly WriteKey: string
  readonly EventType: string
  readonly EventIdentifier: string
  readonly Schema: Readonly<Record<string, string>>
  readonly LastSeen: string
  readonly TotalCount: number
}

export interface EventVersionAnswer {
  readonly ID: number
  readonly VersionID: string
  readonly Schema: Readonly<Record<string, string>>
  readonly FirstSeen: string
  readonly LastSeen: string
  readonly TotalCount: number
}

export interface MetadataAnswer {
  readonly SampledEvents: readonly object[]
  readonly TotalCount: number
  readonly FrequentValues: Readonly<Record<string, readonly { readonly Value: string; readonly Frequency: number }[]>>
}
