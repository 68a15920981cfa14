import type { Locator } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { Dashboard, type Visit } from './browser.ts'

/* No control uses a field whose text is not JSON (dashboard.md §9 [U13]). */

let dashboard: Dashboard
beforeAll(async () => {
  dashboard = await Dashboard.open()
})
afterAll(() => dashboard[Symbol.asyncDispose]())

const BROKEN = '[{"action": "sendMessage"'
const NO_LIST = '{"action": "sendMessage"}'
const CONFIG = {
  accountSID: 'AC0123',
  apiKeySID: 'SK0123',
  apiKeySecret: 'secret-of-twilio',
  subscriptions: [{ action: 'sendMessage', name: 'Welcome', trigger: 'type = "identify"', base: 'default' }],
}

test('adding a mapping and loading choices lead to the field that is no JSON list, and its text stays', async () => {
  const id = await made({ name: 'Messages', type: 'CATALOG_TWILIO_MESSAGING', config: CONFIG })
  await using visit = await dashboard.visit(`/destinations/${id}/config`)
  const { page } = visit
  const asked: string[] = []
  page.on('request', (request) => {
    if (request.url().endsWith('/field-options')) asked.push(request.url())
  })
  const mappings = page.getByLabel(/^Mappings/)
  for (const text of [BROKEN, NO_LIST]) {
    await mappings.fill(text)
    for (const name of [/^Add mapping/, /^Load choices for .*Channel/]) {
      await page.getByRole('button', { name }).first().click()
      await expect.poll(() => hasFocus(mappings)).toBe(true)
      expect(await mappings.inputValue()).toBe(text)
      await mappings.blur()
    }
  }
  expect(asked).toEqual([])
  await expectNoCommand(visit, 'API')
  await mappings.fill('[]')
  await page
    .getByRole('button', { name: /^Add mapping/ })
    .first()
    .click()
  await page.getByText('1 of at most 50 mappings').waitFor()
})

test('of two who change a destination nothing of the second is saved while a field is not JSON', async () => {
  const id = await made({ name: 'Shared', type: 'HTTP', config: { url: 'https://api.cinema.example/in' } })
  await using visit = await dashboard.visit(`/destinations/${id}/config`)
  const { page } = visit
  const body = page.getByRole('textbox', { name: /^Body( \*)?$/ })
  await body.fill('{"a": 1}')
  await dashboard.env.api('PATCH', `/v2/destinations/${id}`, { name: 'Theirs' })
  await page.getByRole('button', { name: 'Save', exact: true }).click()
  await page.getByText('Someone changed this destination since you opened it.').waitFor()
  await body.fill('{"a": 1')
  for (const name of ['See the difference', 'Keep mine']) {
    expect(await page.getByRole('button', { name }).isDisabled()).toBe(true)
  }
  await body.fill('{"a": 12}')
  await page.getByRole('button', { name: 'Save', exact: true }).click()
  await page.getByRole('button', { name: 'Keep mine' }).click()
  await page.getByText('Saved.', { exact: true }).waitFor()
  await body.fill('{"a": 12')
  await page.getByText('Saved.', { exact: true }).waitFor({ state: 'detached' })
})

test('the test bench neither runs nor prints with overrides or a message that are no JSON object', async () => {
  const { destinationId } = await dashboard.env.webhook({ name: 'Booking hook' })
  await using visit = await dashboard.visit(`/test?destination=${destinationId}`)
  const { page } = visit
  const run = page.getByRole('button', { name: 'Run without sending' })
  await expect.poll(() => run.isEnabled()).toBe(true)
  await page.getByRole('button', { name: 'Overrides' }).click()
  const overrides = page.getByLabel('Overrides', { exact: true })
  await overrides.fill('{"webhookUrl": "https://staging.cinema.example/in"}')
  for (const text of ['{"webhookUrl": "https://staging', '["https://staging.cinema.example/in"]']) {
    await overrides.fill(text)
    await expect.poll(() => run.isDisabled()).toBe(true)
    await page.getByRole('button', { name: /verrides$/ }).click()
    expect(await overrides.inputValue()).toBe(text)
    await expectNoCommand(visit, 'API')
    await expectNoCommand(visit, 'Command')
  }
  await page.getByRole('textbox', { name: 'Overrides', exact: true }).fill('')
  await expect.poll(() => run.isEnabled()).toBe(true)
  await page.getByRole('textbox', { name: 'Message', exact: true }).click()
  await page.keyboard.press('Control+A')
  await page.keyboard.insertText('{"type": ')
  await expectNoCommand(visit, 'API')
})

async function made(body: object): Promise<string> {
  return (await dashboard.env.api('POST', '/v2/destinations', { enabled: false, ...body })).json.destination.id
}

async function expectNoCommand({ page }: Visit, name: 'API' | 'Command'): Promise<void> {
  await page.getByRole('button', { name: new RegExp(`^${name}: `) }).click()
  await page.getByText('Some text of this form is not JSON. Correct it to see the command.').waitFor()
  // Shown is before it listens to keys.
  const shown = async () => {
    await page.keyboard.press('Escape')
    return await page.getByText('Some text of this form is not JSON.').count()
  }
  await expect.poll(shown).toBe(0)
}

function hasFocus(field: Locator): Promise<boolean> {
  return field.evaluate((element) => element === element.ownerDocument.activeElement)
}
