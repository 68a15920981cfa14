/** Which stages run. */
export interface StageFlags {
  readonly user_transform: boolean
  readonly dest_transform: boolean
  readonly send_to_destination: boolean
}

/** What the query asks for beside the result. */
export interface TestOptions {
  /** Whether what is disabled is tested, too. */
  readonly force: boolean
  /** Words of `?include=` that are known. @see contracts/test-api.md §11 */
  readonly include: ReadonlySet<string>
  /** Whether secrets that the caller supplied are masked like the others. @see contracts/test-api.md §9 [D228] */
  readonly masksSupplied: boolean
}
