import { createRequire } from 'node:module'
import type { PackageDefinition } from './definitions/package-entry.ts'

const require = createRequire(import.meta.url)

/**
 * Loads one definition of the package. Its index is never loaded: it would load every definition and their SDKs.
 *
 * @see contracts/destination-catalog.md §3, rows 1 and 2 [C7]
 */
export function packageDefinition(slug: string): PackageDefinition {
  const module = require(`@segment/action-destinations/dist/destinations/${slug}/index.js`) as {
    default: PackageDefinition
  }
  return module.default
}

/** Whether the packages are part of this installation. */
export function arePackagesInstalled(): boolean {
  try {
    require.resolve('@segment/action-destinations/package.json')
    return true
  } catch {
    return false
  }
}
