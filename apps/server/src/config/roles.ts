export const PROCESS_ROLES = ['gateway', 'pipeline', 'catalog', 'control'] as const

/** The parts of the product that a process runs. @see contracts/decisions.md [D736] */
export type ProcessRole = (typeof PROCESS_ROLES)[number]

/**
 * `all`, or a comma list of roles. One process owns SQLite, and therefore has every role.
 *
 * @returns undefined unless the list contains all of them.
 */
export function parseRoles(text: string): ReadonlySet<ProcessRole> | undefined {
  if (text === 'all') return new Set(PROCESS_ROLES)
  const given = new Set(text.split(',').map((role) => role.trim()))
  return given.size === PROCESS_ROLES.length && PROCESS_ROLES.every((role) => given.has(role))
    ? new Set(PROCESS_ROLES)
    : undefined
}
