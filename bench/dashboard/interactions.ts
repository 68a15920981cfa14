import { setTimeout as delay } from 'node:timers/promises'
import type { Locator } from 'playwright-core'
import { INTERACTIONS_MS, UNTOLD_INTERACTION_MS, WATCH_INTERACTIONS } from './in-page.ts'
import type { Visit } from './visitor.ts'

const BETWEEN_KEYS_MS = 60
/** For what was asked for to be shown, and for the browser to tell how long it took. */
const SETTLING_MS = 500

/**
 * Works with the pages of the large workspace by mouse and keyboard, in one page without a reload.
 *
 * @returns milliseconds from each click and key to the frame after it, as the browser itself counts them (Event Timing).
 */
export async function interactionsMs(visit: Visit): Promise<number[]> {
  const { page } = visit
  const hands = new Hands(visit)
  const section = (name: string) => page.getByRole('navigation', { name: 'Sections' }).getByRole('link', { name })
  await page.evaluate(WATCH_INTERACTIONS)

  await hands.click(page.getByText('24 h', { exact: true }))
  await hands.click(page.getByText('1 h', { exact: true }))
  await hands.click(page.getByRole('button', { name: /^Show only / }).first())
  await hands.click(page.getByRole('button', { name: 'Show all' }).last())
  await hands.press('Control+K')
  await hands.type('hook-49')
  await hands.press('Escape')

  for (const [name, words] of [
    ['Sources', 'Source 99'],
    ['Destinations', 'Hook 4'],
  ] as const) {
    await hands.click(section(name))
    await page.locator('[data-row="0"]').waitFor()
    await hands.click(page.locator('main [data-filter]'))
    await hands.type(words)
    await hands.press('Control+A')
    await hands.press('Backspace')
    await hands.press('Escape')
    for (let click = 0; click < 3; click++)
      await hands.click(page.getByRole('columnheader').getByRole('button').first())
    await page.locator('main h1').click()
    for (let row = 0; row < 10; row++) await hands.press('j')
    for (let row = 0; row < 5; row++) await hands.press('k')
    await hands.press('Enter')
    await hands.settle()
  }

  await hands.click(section('Dead letters'))
  await hands.click(page.getByRole('table', { name: 'Groups' }).locator('[data-row="0"]'))
  const letters = page.getByRole('table', { name: 'Dead letters' })
  await hands.click(letters.locator('[data-row="0"]').getByRole('checkbox'))
  await hands.click(letters.getByRole('checkbox', { name: 'Select all loaded rows' }))
  await hands.click(letters.locator('[data-row="1"]'))
  await hands.press('Escape')

  await hands.click(section('Events'))
  await hands.click(page.locator('[data-row="0"]'))
  await hands.press('Escape')
  for (let row = 0; row < 10; row++) await hands.press('j')
  await hands.press('Enter')
  await hands.settle()

  const told: number[] = await page.evaluate(INTERACTIONS_MS)
  const untold = Math.max(0, hands.done - told.length)
  return [...told, ...Array.from({ length: untold }, () => UNTOLD_INTERACTION_MS)]
}

/** A person's, who does one thing after the other and looks at what comes of it. */
class Hands {
  readonly #visit: Visit
  /** Clicks and keys. */
  done = 0

  constructor(visit: Visit) {
    this.#visit = visit
  }

  async click(target: Locator): Promise<void> {
    await target.click()
    this.done++
    await this.settle()
  }

  async press(keys: string): Promise<void> {
    await this.#visit.page.keyboard.press(keys)
    this.done++
    await delay(BETWEEN_KEYS_MS)
  }

  async type(words: string): Promise<void> {
    for (const letter of words) await this.press(letter)
    await this.settle()
  }

  async settle(): Promise<void> {
    await delay(SETTLING_MS)
  }
}
