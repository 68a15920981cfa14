interface Named {
  readonly id: string
  readonly name: string
}

/** Returns names by id; the id itself if the resource is gone or not loaded. */
export function namesOf(list: readonly Named[] | undefined): (id: string) => string {
  const names = new Map(list?.map(({ id, name }) => [id, name]))
  return (id) => names.get(id) ?? id
}
