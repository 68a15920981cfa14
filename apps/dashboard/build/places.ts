import path from 'node:path'

export const DASHBOARD_FOLDER = path.dirname(import.meta.dirname)
/** Holds a folder for each build, named after what it was made of; not in git. */
export const DIST_FOLDER = path.join(DASHBOARD_FOLDER, 'dist')

export function buildFolder(hash: string): string {
  return path.join(DIST_FOLDER, hash)
}
