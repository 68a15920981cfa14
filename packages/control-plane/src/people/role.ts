/** From the fewest rights to the most. */
export const ROLES = ['viewer', 'editor', 'admin'] as const

export type Role = (typeof ROLES)[number]

export function isRole(value: unknown): value is Role {
  return ROLES.includes(value as Role)
}

export function isAtLeast(role: Role, needed: Role): boolean {
  return ROLES.indexOf(role) >= ROLES.indexOf(needed)
}

export function lowerRole(a: Role, b: Role): Role {
  return isAtLeast(a, b) ? b : a
}
