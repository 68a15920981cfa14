import path from 'node:path'

export const DASHBOARD_FOLDER = path.dirname(import.meta.dirname)
/** What is built; not in git. */
export const DIST_FOLDER = path.join(DASHBOARD_FOLDER, 'dist')
