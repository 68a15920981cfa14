import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import type { DestinationModule } from './definition.ts'
import type { DestinationCase } from './destination-case.ts'

export const TYPES_FOLDER = join(import.meta.dirname, 'types')

/** Every folder with a destination type: a new one is tested by being there. */
export const typesUnderTest = await Promise.all(
  readdirSync(TYPES_FOLDER, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(async ({ name: folder }) => {
      const { destination } = (await import(`./types/${folder}/${folder}.ts`)) as { destination: DestinationModule }
      const { cases } = (await import(`./types/${folder}/${folder}.cases.ts`)) as { cases: DestinationCase[] }
      return { folder, destination, definition: destination.definition, cases }
    }),
)
