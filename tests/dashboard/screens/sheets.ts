import { globSync, mkdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { Dashboard, type Visit } from '../browser.ts'
import { contactSheet, type Picture } from './contact-sheet.ts'
import { type Screen, STATES, type State } from './screen.ts'
import { troubled } from './world.ts'

const FORMS = [
  { width: 1440, height: 900, theme: 'light' },
  { width: 1440, height: 900, theme: 'dark' },
  { width: 360, height: 740, theme: 'light' },
  { width: 360, height: 740, theme: 'dark' },
] as const
/** After everything has been answered: skeletons come after 150 ms. */
const SETTLE_MS = 500

/**
 * A contact sheet for each page of the dashboard, in every state, at two widths and in both themes.
 *
 * @param parts of the names of pages; all of them if there is none.
 */
export async function makeSheets(out: string, parts: readonly string[], say: (line: string) => void): Promise<void> {
  mkdirSync(out, { recursive: true })
  const files = globSync('*.ts', { cwd: path.join(import.meta.dirname, 'pages') }).sort()
  const modules = (await Promise.all(files.map((file) => import(`./pages/${file}`)))) as {
    screens: readonly Screen[]
  }[]
  const wanted = modules
    .flatMap(({ screens }) => screens)
    .filter(({ name }) => parts.length === 0 || parts.some((part) => name.includes(part)))

  await using full = await Dashboard.open()
  await using empty = await Dashboard.open()
  const world = await troubled(full.env)
  const viewer = { email: 'viewer@cinema.example', token: await full.newUser('viewer') }
  const sheets = new Map(wanted.map(({ name }) => [name, [] as Picture[]]))

  for (const form of FORMS) {
    for (const state of STATES) {
      const product = state === 'empty' ? empty : full
      const screens = wanted.filter(({ states = STATES }) => states.includes(state))
      if (screens.length === 0) continue
      // A first page that costs no request of its own.
      const visit = await product.visit('/sign-in', { ...form, ...(state === 'no permission' ? viewer : {}) })
      for (const screen of screens) {
        const target = screen.path(state === 'empty' ? {} : world)
        if (target === undefined) continue
        const png = await picture(visit, product, screen, target, state)
        const title = `${state} · ${form.width} ${form.theme}`
        sheets.get(screen.name)!.push({ title, png, faults: visit.faults.splice(0) })
        const folder = path.join(out, fileName(screen.name))
        mkdirSync(folder, { recursive: true })
        writeFileSync(path.join(folder, `${fileName(`${state} ${form.width} ${form.theme}`)}.png`), png)
      }
      product.proxy.fate = () => 'pass'
      await visit.page.context().close()
    }
    say(`${form.width} ${form.theme}`)
  }
  for (const [name, pictures] of sheets) {
    const file = path.join(out, `${fileName(name)}.png`)
    writeFileSync(file, await contactSheet(full, name, pictures))
    say(file)
  }
}

async function picture(visit: Visit, product: Dashboard, screen: Screen, target: string, state: State) {
  const { page } = visit
  if (state === 'loading') {
    // A browser opens six connections to a server, and what the page before it waits for holds some of them.
    await page.goto('about:blank')
    product.proxy.breakAll()
  }
  product.proxy.fate = (url) => {
    const isApi = !url.startsWith('/ui') && !url.startsWith('/v2/session')
    if (!isApi) return 'pass'
    return state === 'loading' ? 'hold' : state === 'error' ? 503 : 'pass'
  }
  // What is held back while loading would hold back the end of loading, too.
  await page.goto(`/ui${target}`, { waitUntil: 'domcontentloaded' })
  // While loading it may still be without a text.
  await page.locator('h1').first().waitFor({ state: 'attached' })
  await page.waitForTimeout(SETTLE_MS)
  if (state === 'full' || state === 'no permission') {
    // A page that cannot be brought there is looked at as it is.
    await screen.prepare?.(page).catch((error: Error) => visit.faults.push(error.message.split('\n')[0]!))
  }
  return page.screenshot({ fullPage: screen.isWhole ?? false })
}

function fileName(text: string): string {
  return text.replaceAll(' ', '-')
}
