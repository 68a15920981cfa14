/** What sources, destinations and connections have in common. */
export interface Resource {
  readonly id: string
  readonly isEnabled: boolean
  /** Milliseconds since 1970. Resources that one change made have it in common, and are in order of their ids. */
  readonly createdAt: number
  readonly updatedAt: number
  /** The configuration revision of its last change. */
  readonly revision: number
}

/** Differs after every change of the resource. */
export function entityTag({ revision }: Pick<Resource, 'revision'>): string {
  return `"${revision}"`
}
