import { readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import type { DestinationCase } from '../../packages/destinations/src/destination-case.ts'
import { withExamples } from './guide-examples.ts'

const ROOT = path.resolve(import.meta.dirname, '../..')
for (const folder of process.argv.slice(2)) {
  const { cases } = (await import(path.join(ROOT, `packages/destinations/src/${folder}/${folder}.cases.ts`))) as {
    cases: DestinationCase[]
  }
  const guide = path.join(ROOT, `docs/destinations/${folder}.md`)
  writeFileSync(guide, withExamples(readFileSync(guide, 'utf8'), cases))
}
