import type { SQLInputValue } from 'node:sqlite'

/** Where the condition applies: dead letters in rows, ranges or groups. */
export interface LetterCondition {
  /** Starts with AND unless empty. */
  readonly sql: string
  readonly values: readonly SQLInputValue[]
}

/** @param sought the wanted values of these columns; undefined: any. */
export function letterCondition(sought: Readonly<Record<string, number | undefined>>): LetterCondition {
  const asked = Object.entries(sought).filter((entry): entry is [string, number] => entry[1] !== undefined)
  return { sql: asked.map(([column]) => ` AND ${column} = ?`).join(''), values: asked.map(([, value]) => value) }
}
