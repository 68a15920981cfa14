import { readFileSync } from 'node:fs'

const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as { version: string }

export const VERSION = version
/** The features of this build, by their names in /version. */
export const FEATURES: readonly string[] = ['schema-catalog']
