import type { SourceMade } from '@millrace/dev-env'
import { systemClock } from '@millrace/std'
import type { Locator } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { Dashboard } from './browser.ts'

/* Rules of a connection, and consent (docs/filtering-events.md; dashboard.md §6, §9). */

const DAY_MS = 86_400_000

let dashboard: Dashboard
let cinema: SourceMade
let destinationId: string
let connectionId: string

const api = (method: string, path: string, body?: unknown) => dashboard.env.api(method, path, body)
const rules = async () => (await api('GET', `/v2/connections/${connectionId}`)).json.connection.rules

beforeAll(async () => {
  // Counts go by the time of acceptance: the server's clock is set to today once yesterday's events are there.
  let behindMs = DAY_MS
  dashboard = await Dashboard.open({}, { clock: { ...systemClock, now: () => systemClock.now() - behindMs } })
  const webhook = await dashboard.env.webhook()
  cinema = webhook.source
  destinationId = webhook.destinationId
  connectionId = webhook.connectionId
  for (const [i, event] of ['Seat Reserved', 'Seat Debug', 'Ticket Paid'].entries()) {
    const body = { userId: 'u', event, messageId: `y-${i}`, properties: { value: i * 100 } }
    await dashboard.env.send('/v1/track', body, cinema.writeKey)
  }
  await dashboard.env.journey('y-2', 'delivered')
  behindMs = 0
})
afterAll(() => dashboard[Symbol.asyncDispose]())

test('rules are written, counted against the events of yesterday, saved, and apply to the next event', async () => {
  await using visit = await dashboard.visit(`/destinations/${destinationId}/connections`)
  const { page } = visit
  await page.getByRole('link', { name: 'All events' }).click()
  await page.getByText('The first rule that matches an event decides.').waitFor()
  const yesterday = page.getByRole('region', { name: 'Yesterday' })
  await yesterday.getByText('3 of 3 events would be sent.').waitFor()
  await page.getByRole('button', { name: 'Add rule' }).click()
  await yesterday.getByText('Complete the rules to count events.').waitFor()
  await page.getByRole('combobox', { name: 'Event name' }).click()
  await page.getByRole('option', { name: 'Matches' }).click()
  await page.getByRole('combobox', { name: 'Names' }).fill('* Debug')
  await page.getByRole('combobox', { name: 'Names' }).press('Enter')
  await yesterday.getByText('2 of 3 events would be sent.').waitFor()
  await page.getByText('1 event yesterday').waitFor()
  await page.getByRole('button', { name: 'Add condition' }).click()
  await page.getByRole('textbox', { name: 'Member of condition 1' }).fill('properties.value')
  await page.getByRole('combobox', { name: 'Operator of condition 1' }).click()
  await page.getByRole('option', { name: '≥' }).click()
  await page.getByRole('textbox', { name: 'Value of condition 1' }).fill('101')
  await yesterday.getByText('3 of 3 events would be sent.').waitFor()
  await page.getByRole('textbox', { name: 'Value of condition 1' }).fill('100')
  await yesterday.getByText('2 of 3 events would be sent.').waitFor()
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText('Saved. The rules apply to the next event.').waitFor()
  expect(await rules()).toEqual({
    otherwise: 'allow',
    list: [
      {
        action: 'deny',
        events: { match: 'pattern', names: ['* Debug'] },
        conditions: [{ path: 'properties.value', operator: 'at_least', value: 100 }],
      },
    ],
  })
  expect(await visit.axe()).toEqual([])
})

test('the trace says which rule excluded an event, and leads to the rules', async () => {
  const list = [{ action: 'deny', events: { names: ['Seat Debug'] } }]
  await api('PATCH', `/v2/connections/${connectionId}`, { rules: { list } })
  const body = { userId: 'u', event: 'Seat Debug', messageId: 'm-left-out' }
  await dashboard.env.send('/v1/track', body, cinema.writeKey)
  await dashboard.env.journey('m-left-out', 'filtered', destinationId)
  await using visit = await dashboard.visit('/events/m-left-out')
  const { page } = visit
  await page.getByText('Rule 1 of the connection excludes this event.').waitFor()
  await page.getByRole('link', { name: 'Open rules' }).click()
  await page.getByRole('heading', { name: 'Rule 1' }).waitFor()
})

test('rules that cannot be are told at their place, and stay as they were', async () => {
  const list = [{ action: 'deny', types: ['page'] }]
  await api('PATCH', `/v2/connections/${connectionId}`, { rules: { list } })
  await using visit = await dashboard.visit(`/connections/${connectionId}`)
  const { page } = visit
  await page.getByRole('button', { name: 'Add condition' }).click()
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText('is required').waitFor()
  await page.getByRole('textbox', { name: 'Member of condition 1' }).fill('a..b')
  await page.getByText('must be names joined by dots, such as properties.value').waitFor()
  expect((await rules()).list).toEqual(list)
})

test('rules are moved and removed, and none at all send every event', async () => {
  const list = [
    { action: 'allow', types: ['page'] },
    { action: 'deny', types: ['track', 'page'] },
  ]
  await api('PATCH', `/v2/connections/${connectionId}`, { rules: { otherwise: 'deny', list } })
  await using visit = await dashboard.visit(`/connections/${connectionId}`)
  const { page } = visit
  await page.getByRole('button', { name: 'Move rule 2 up' }).click()
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText('Saved. The rules apply to the next event.').waitFor()
  expect((await rules()).list).toEqual([list[1], list[0]])
  await page.getByRole('button', { name: 'Remove rule 2' }).click()
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText('This needs a rule that allows events').waitFor()
  await page.getByRole('button', { name: 'Remove rule 1' }).click()
  await page.getByRole('combobox', { name: 'All other events' }).click()
  await page.getByRole('option', { name: 'Send', exact: true }).click()
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText('Saved. The rules apply to the next event.').waitFor()
  expect(await rules()).toBe(undefined)
})

test('a save keeps the focus in the field of a rule', async () => {
  const conditions = [{ path: 'properties.value', operator: 'equals', value: 1 }]
  await api('PATCH', `/v2/connections/${connectionId}`, { rules: { list: [{ action: 'deny', conditions }] } })
  await using visit = await dashboard.visit(`/connections/${connectionId}`)
  const { page } = visit
  const value = page.getByRole('textbox', { name: 'Value of condition 1' })
  // The server answers with the number 7.
  await value.fill('07')
  await value.press('Enter')
  await page.getByText('Saved. The rules apply to the next event.').waitFor()
  expect((await rules()).list[0].conditions[0].value).toBe(7)
  expect(await value.evaluate((element) => element.matches(':focus'))).toBe(true)
})

test('a failed save is shown, the rules stay, and events that could not be counted are counted on demand', async () => {
  const conditions = [{ path: 'properties.value', operator: 'equals', value: 1 }]
  const list = ['page', 'screen', 'group'].map((type) => ({ action: 'deny', types: [type], conditions }))
  await api('PATCH', `/v2/connections/${connectionId}`, { rules: { list } })
  await using visit = await dashboard.visit(`/connections/${connectionId}`)
  const { page } = visit
  const value = page.getByRole('textbox', { name: 'Value of condition 1' }).last()
  const yesterday = page.getByRole('region', { name: 'Yesterday' })
  await yesterday.getByText('3 of 3 events would be sent.').waitFor()
  dashboard.proxy.fate = (path, method) => (method === 'PATCH' || path.endsWith('/rule-count') ? 503 : 'pass')
  await value.fill('5')
  await page.getByRole('button', { name: 'Save' }).click()
  const refusal = page.locator('form > [role=alert]', { hasText: 'The server could not answer (503).' })
  await refusal.waitFor()
  await expect.poll(() => isInWindow(refusal)).toBe(true)
  expect(await value.inputValue()).toBe('5')
  await yesterday.getByText('The server could not answer (503).').waitFor()
  dashboard.proxy.fate = () => 'pass'
  await yesterday.getByRole('button', { name: 'Retry' }).click()
  await yesterday.getByText('3 of 3 events would be sent.').waitFor()
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText('Saved. The rules apply to the next event.').waitFor()
})

test('what somebody else saved meanwhile is not written over', async () => {
  await api('PATCH', `/v2/connections/${connectionId}`, { rules: { list: [{ action: 'deny', types: ['page'] }] } })
  await using visit = await dashboard.visit(`/connections/${connectionId}`)
  const { page } = visit
  await page.getByRole('button', { name: 'Add condition' }).click()
  await page.getByRole('textbox', { name: 'Member of condition 1' }).fill('userId')
  await page.getByRole('textbox', { name: 'Value of condition 1' }).fill('u-1')
  await api('PATCH', `/v2/connections/${connectionId}`, { rules: { list: [{ action: 'deny', types: ['group'] }] } })
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText('Someone changed this connection since you opened it.').waitFor()
  expect((await rules()).list).toEqual([{ action: 'deny', types: ['group'] }])
  await page.getByRole('button', { name: 'Keep mine' }).click()
  await page.getByText('Saved. The rules apply to the next event.').waitFor()
  expect((await rules()).list[0].types).toEqual(['page'])
})

test('a viewer sees the rules and their counts, and changes nothing', async () => {
  await api('PATCH', `/v2/connections/${connectionId}`, { rules: { list: [{ action: 'deny', types: ['track'] }] } })
  const token = await dashboard.newUser('viewer')
  await using visit = await dashboard.visit(`/connections/${connectionId}`, { token, email: 'viewer@cinema.example' })
  const { page } = visit
  await page.getByText('0 of 3 events would be sent.').waitFor()
  expect(await page.getByRole('button', { name: 'Save' }).isDisabled()).toBe(true)
  expect(await page.getByRole('button', { name: 'Add rule' }).isDisabled()).toBe(true)
})

test('a destination names its consent categories, a source what becomes of events without, and the overview counts them', async () => {
  await api('PATCH', `/v2/connections/${connectionId}`, { rules: null })
  await using visit = await dashboard.visit(`/destinations/${destinationId}/config`)
  const { page } = visit
  await page.getByRole('combobox', { name: 'Consent categories' }).fill('Advertising')
  await page.getByRole('combobox', { name: 'Consent categories' }).press('Enter')
  await page.getByRole('combobox', { name: 'The user must grant' }).waitFor()
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText('Saved.').waitFor()
  const { consent } = (await api('GET', `/v2/destinations/${destinationId}`)).json.destination
  expect(consent).toEqual({ categories: ['Advertising'], require: 'all' })

  await page.goto(page.url().replace(/destinations.*/, `sources/${cinema.id}/settings`))
  await page.getByRole('combobox', { name: 'Events without consent' }).click()
  await page.getByRole('option', { name: 'Do not send' }).click()
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText('Saved.').waitFor()

  await dashboard.env.send('/v1/track', { userId: 'u', event: 'Seat', messageId: 'm-held' }, cinema.writeKey)
  await dashboard.env.journey('m-held', 'filtered', destinationId)
  await page.goto(page.url().replace(/sources.*/, `destinations/${destinationId}/overview`))
  await page.getByRole('link', { name: '1 consent missing' }).waitFor()
})

async function isInWindow(target: Locator): Promise<boolean> {
  const { y = -1, height = 0 } = (await target.boundingBox()) ?? {}
  return y >= 0 && y + height <= target.page().viewportSize()!.height
}
