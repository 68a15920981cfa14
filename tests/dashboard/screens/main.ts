import { globSync, mkdirSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { parseArgs } from 'node:util'
import { Dashboard, type Visit } from '../browser.ts'
import { contactSheet, type Picture } from './contact-sheet.ts'
import { type Screen, STATES, type State } from './screen.ts'
import { cinema, type World } from './world.ts'

/*
 * npm run screens [-- --out <folder>] [part of a name …]: a contact sheet for each page of the dashboard, in every state, at
 * two widths and in both themes, for a person to look at (contracts/dashboard.md §13 [U21]).
 */

const FORMS = [
  { width: 1440, height: 900, theme: 'light' },
  { width: 1440, height: 900, theme: 'dark' },
  { width: 360, height: 740, theme: 'light' },
  { width: 360, height: 740, theme: 'dark' },
] as const
/** After everything has been answered: skeletons come after 150 ms. */
const SETTLE_MS = 500

const say = (line: string) => void process.stdout.write(`${line}\n`)
const { values, positionals } = parseArgs({ options: { out: { type: 'string' } }, allowPositionals: true })
const out = path.resolve(values.out ?? path.join(tmpdir(), 'millrace-screens'))
mkdirSync(out, { recursive: true })

const files = globSync('*.ts', { cwd: path.join(import.meta.dirname, 'pages') }).sort()
const modules = (await Promise.all(files.map((file) => import(`./pages/${file}`)))) as { screens: readonly Screen[] }[]
const wanted = modules
  .flatMap(({ screens }) => screens)
  .filter(({ name }) => positionals.length === 0 || positionals.some((part) => name.includes(part)))

await using full = await Dashboard.open()
await using empty = await Dashboard.open()
const world = await cinema(full.env)
const nothing: World = { sourceId: undefined, destinationId: undefined }
const viewer = { email: 'viewer@cinema.example', token: await full.newUser('viewer') }
const sheets = new Map(wanted.map(({ name }) => [name, [] as Picture[]]))

for (const form of FORMS) {
  for (const state of STATES) {
    const product = state === 'empty' ? empty : full
    const screens = wanted.filter(({ states = STATES }) => states.includes(state))
    if (screens.length === 0) continue
    // A first page that costs no request of its own.
    const visit = await product.visit('/sign-in', { ...form, ...(state === 'no permission' ? viewer : {}) })
    for (const screen of screens) await picture(visit, product, screen, state, `${form.width} ${form.theme}`)
    product.proxy.fate = () => 'pass'
    await visit.page.context().close()
  }
  say(`${form.width} ${form.theme}`)
}
for (const [name, pictures] of sheets) {
  const file = path.join(out, `${name.replaceAll(' ', '-')}.png`)
  writeFileSync(file, await contactSheet(full, name, pictures))
  say(file)
}

async function picture(visit: Visit, product: Dashboard, screen: Screen, state: State, form: string): Promise<void> {
  const target = screen.path(state === 'empty' ? nothing : world)
  if (target === undefined) return
  const { page } = visit
  product.proxy.fate = (url) => {
    const isApi = !url.startsWith('/ui') && !url.startsWith('/v2/session')
    if (!isApi) return 'pass'
    return state === 'loading' ? 'hold' : state === 'error' ? 503 : 'pass'
  }
  await page.goto(`/ui${target}`)
  // While loading it may still be without a text.
  await page.locator('h1').first().waitFor({ state: 'attached' })
  await page.waitForTimeout(SETTLE_MS)
  if (state === 'full' || state === 'no permission') await screen.prepare?.(page)
  const png = await page.screenshot()
  const folder = path.join(out, screen.name.replaceAll(' ', '-'))
  mkdirSync(folder, { recursive: true })
  writeFileSync(path.join(folder, `${state} ${form}.png`.replaceAll(' ', '-')), png)
  sheets.get(screen.name)!.push({ title: `${state} · ${form}`, png, faults: visit.faults.splice(0) })
}
