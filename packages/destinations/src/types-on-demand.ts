import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { DestinationModule } from './definition.ts'
import { folderOfType, typeFile } from './types-folder.ts'

const require = createRequire(import.meta.url)
const TYPE_NAME = /^[A-Z][A-Z0-9_]*$/

/**
 * The types of this package, each loaded when it is first asked for. A delivery thread runs few of them, and loading all
 * takes a third of its start.
 */
export class TypesOnDemand {
  readonly #modules = new Map<string, DestinationModule | undefined>()

  /** By type name, such as `WEBHOOK`. */
  find(name: string): DestinationModule | undefined {
    if (!this.#modules.has(name)) this.#modules.set(name, loaded(name))
    return this.#modules.get(name)
  }
}

function loaded(name: string): DestinationModule | undefined {
  if (!TYPE_NAME.test(name)) return undefined
  const file = typeFile(folderOfType(name))
  return existsSync(file) ? (require(file) as { destination: DestinationModule }).destination : undefined
}
