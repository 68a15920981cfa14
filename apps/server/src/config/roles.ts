export const PROCESS_ROLES = ['gateway', 'pipeline', 'catalog', 'control'] as const

/** The parts of the product that a process runs. @see contracts/decisions.md [D736] */
export type ProcessRole = (typeof PROCESS_ROLES)[number]

/** `all`, or a comma list of roles. @returns undefined for any other text. */
export function parseRoles(text: string): ReadonlySet<ProcessRole> | undefined {
  if (text === 'all') return new Set(PROCESS_ROLES)
  const given = text.split(',').map((role) => role.trim())
  const roles = PROCESS_ROLES.filter((role) => given.includes(role))
  return given.every((role) => (PROCESS_ROLES as readonly string[]).includes(role)) ? new Set(roles) : undefined
}
