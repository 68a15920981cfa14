/** The common members of sources, destinations and connections. */
export interface Resource {
  readonly id: string
  readonly isEnabled: boolean
  /** Milliseconds since 1970. Resources of one change share it, and are ordered by their ids. */
  readonly createdAt: number
  readonly updatedAt: number
  /** The configuration revision of its last change. */
  readonly revision: number
}

/** Changes with every change of the resource. */
export function entityTag({ revision }: Pick<Resource, 'revision'>): string {
  return `"${revision}"`
}
