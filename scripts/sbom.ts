import { execFileSync } from 'node:child_process'
import { globSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { programArguments } from '../apps/dev-env/src/program-arguments.ts'

interface Package {
  readonly name: string
  readonly version: string
  readonly workspaces?: readonly string[]
  readonly dependencies?: Readonly<Record<string, string>>
}
interface Bill {
  metadata: { component: { name: string; type: string } }
  readonly components: readonly { readonly 'bom-ref': string }[]
}

programArguments({
  usage: `Writes millrace-<version>.cdx.json: the software bill of materials (CycloneDX) of all packages in the lock file, in which
development dependencies are marked. Part of a release (CONTRIBUTING.md). Needs no network.

  npm run sbom`,
})

const ROOT = path.dirname(import.meta.dirname)
const readPackage = (folder: string): Package =>
  JSON.parse(readFileSync(path.join(ROOT, folder, 'package.json'), 'utf8'))

const product = readPackage('.')
// Without `--omit dev`, which leaves out packages of the product that a development package needs, too.
const words = ['sbom', '--sbom-format', 'cyclonedx', '--package-lock-only']
const made = execFileSync('npm', words, { cwd: ROOT, encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 })
const bill = JSON.parse(made) as Bill
// npm calls it by the name of the folder.
bill.metadata.component = { ...bill.metadata.component, name: product.name, type: 'application' }

const known = new Set(bill.components.map((each) => each['bom-ref'].replace(/@[^@]+$/, '')))
const shipped = globSync(
  product.workspaces!.filter((each) => /^(packages|apps)\//.test(each)),
  { cwd: ROOT },
)
const missing = shipped
  .flatMap((folder) => Object.keys(readPackage(folder).dependencies ?? {}))
  .filter((name) => !known.has(name))
if (missing.length > 0) throw new Error(`the bill of materials lacks ${[...new Set(missing)].join(', ')}`)

const file = `millrace-${product.version}.cdx.json`
writeFileSync(path.join(ROOT, file), `${JSON.stringify(bill, undefined, 2)}\n`)
process.stdout.write(`${file}: ${bill.components.length} components\n`)
