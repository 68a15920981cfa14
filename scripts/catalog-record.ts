import { mkdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { programArguments } from '../apps/dev-env/src/program-arguments.ts'
import { ALLOWED } from '../packages/destination-catalog/src/allow-list.ts'
import { recordedCases, stable } from '../packages/destination-catalog/src/testing/recorded-cases.ts'
import { testCatalog } from '../packages/destination-catalog/src/testing/test-catalog.ts'

programArguments({
  usage: `Writes the cases of the destination catalog with the requests that its entries make now. Review the difference.

  npm run catalog:record`,
})
const folder = path.join(import.meta.dirname, '../packages/destination-catalog/cases')
mkdirSync(folder, { recursive: true })
await using catalog = testCatalog()
const first = await record()
// Times in requests are often whole seconds.
await setTimeout(1_100)
const second = await record()
let count = 0
for (const [slug, cases] of first) {
  const kept = cases.map((each, i) => ({ ...each, requests: stable(each.requests, second.get(slug)![i]!.requests) }))
  count += kept.length
  if (kept.length === 0) console.log(`${slug} makes no request`)
  else writeFileSync(path.join(folder, `${slug}.json`), `${JSON.stringify(kept, undefined, 2)}\n`)
}
console.log(`${count} cases of ${first.size} entries`)

async function record() {
  const cases = new Map<string, Awaited<ReturnType<typeof recordedCases>>>()
  for (const slug of Object.keys(ALLOWED)) cases.set(slug, await recordedCases(catalog, slug))
  return cases
}
