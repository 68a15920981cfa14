interface Named {
  readonly id: string
  readonly name: string
}

/** Tells names by ids; of what is gone, or not read yet, the id. */
export function namesOf(list: readonly Named[] | undefined): (id: string) => string {
  const names = new Map(list?.map(({ id, name }) => [id, name]))
  return (id) => names.get(id) ?? id
}
