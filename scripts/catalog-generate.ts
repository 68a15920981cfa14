import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { programArguments } from '../apps/dev-env/src/program-arguments.ts'
import { generatedFiles } from '../packages/destination-catalog/src/definitions/generated-files.ts'

programArguments({
  usage: `Writes entries.json and actions/*.json of the destination catalog from the installed packages.

  npm run catalog:generate`,
})
const folder = path.join(import.meta.dirname, '../packages/destination-catalog/src/definitions')
rmSync(path.join(folder, 'actions'), { recursive: true, force: true })
mkdirSync(path.join(folder, 'actions'))
const files = generatedFiles()
for (const [file, text] of files) writeFileSync(path.join(folder, file), text)
console.log(`${files.size} files written`)
