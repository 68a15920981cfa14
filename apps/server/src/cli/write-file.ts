import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { CommandError } from './command-io.ts'

/** @throws CommandError */
export function writeFile(name: string, text: string, { makesFolder = false } = {}): void {
  try {
    if (makesFolder) mkdirSync(dirname(name), { recursive: true })
    writeFileSync(name, text)
  } catch (error) {
    throw new CommandError(`${name} cannot be written: ${(error as Error).message}.`)
  }
}
