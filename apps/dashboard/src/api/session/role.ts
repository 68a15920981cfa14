import type { Role } from '@millrace/api-types'
export const ROLES = ['viewer', 'editor', 'admin'] as const satisfies readonly Role[]

export function isAtLeast(role: Role, needed: Role): boolean {
  return ROLES.indexOf(role) >= ROLES.indexOf(needed)
}
