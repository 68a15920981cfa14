import type { Locator } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { Dashboard } from './browser.ts'

/* What axe does not look at: text of what is pointed at, and the lines of controls (dashboard.md §12). */

const THEMES = ['light', 'dark'] as const
const TEXT = 4.5
const LINE = 3

let dashboard: Dashboard
beforeAll(async () => {
  dashboard = await Dashboard.open()
  await dashboard.env.api('PUT', '/v2/credentials/geo', { value: 'x' })
})
afterAll(() => dashboard[Symbol.asyncDispose]())

interface Contrasts {
  /** Of the text on what it stands on. */
  readonly text: number
  /** Of the border, and of the area, on what is around. */
  readonly border: number
  readonly area: number
}

function contrasts(locator: Locator): Promise<Contrasts> {
  return locator.evaluate((element) => {
    const styleOf = (of: typeof element) => of.ownerDocument.defaultView!.getComputedStyle(of)
    const parts = (colour: string) => {
      const [r, g, b, a = 1] = colour.match(/[\d.]+/g)!.map(Number)
      return { rgb: [r!, g!, b!], a }
    }
    const luminance = (rgb: number[]) => {
      const [r, g, b] = rgb.map((value) => {
        const share = value / 255
        return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4
      })
      return 0.2126 * r! + 0.7152 * g! + 0.0722 * b!
    }
    const ratio = (one: number[], other: number[]) => {
      const [light, dark] = [luminance(one), luminance(other)].sort((a, b) => b - a)
      return (light! + 0.05) / (dark! + 0.05)
    }
    const ground = (of: typeof element): number[] => {
      const { rgb, a } = parts(styleOf(of).backgroundColor)
      return a === 1 ? rgb : ground(of.parentElement!)
    }
    const { color, borderTopColor } = styleOf(element)
    const around = ground(element.parentElement!)
    return {
      text: ratio(parts(color).rgb, ground(element)),
      border: ratio(parts(borderTopColor).rgb, around),
      area: ratio(ground(element), around),
    }
  })
}

test.each(THEMES)('%s: the text of a quiet button is read, also of one that is pointed at', async (theme) => {
  await using visit = await dashboard.visit('/settings/credentials', { theme })
  const { page } = visit
  const quiet = [
    page.getByRole('button', { name: 'Replace geo' }),
    page.getByRole('button', { name: 'Delete geo' }),
    page.getByRole('button', { name: 'Account' }),
  ]
  for (const button of quiet) {
    await button.waitFor()
    await page.mouse.move(0, 0)
    expect((await contrasts(button)).text).toBeGreaterThanOrEqual(TEXT)
    await button.hover()
    expect((await contrasts(button)).text).toBeGreaterThanOrEqual(TEXT)
  }
})

test.each(THEMES)(
  '%s: an empty box and a switch that is off are seen, and so are their signs when they are on',
  async (theme) => {
    await using visit = await dashboard.visit('/test', { theme })
    const { page } = visit
    const empty = page.getByRole('checkbox', { name: 'Force' })
    await empty.waitFor()
    expect((await contrasts(empty)).border).toBeGreaterThanOrEqual(LINE)
    expect((await contrasts(page.locator('.mantine-Switch-track'))).area).toBeGreaterThanOrEqual(LINE)
    const ticked = page.locator('.mantine-Checkbox-inner', {
      has: page.getByRole('checkbox', { name: 'User transformation' }),
    })
    expect((await contrasts(ticked.locator('input'))).area).toBeGreaterThanOrEqual(LINE)
    const sign = await ticked
      .locator('svg')
      .evaluate((svg) => svg.ownerDocument.defaultView!.getComputedStyle(svg).color)
    expect(sign).toBe(theme === 'light' ? 'rgb(255, 255, 255)' : 'rgb(16, 21, 27)')
  },
)
