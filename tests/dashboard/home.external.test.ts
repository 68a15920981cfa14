import type { SourceMade } from '@millrace/dev-env'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { Dashboard } from './browser.ts'

/* Home (dashboard.md §5, J1, §15 lines 1 to 3, 8, 11, 30, 31). */

const USERS = 30
/** One more than what is shown as a user whom many events wait for. */
const HOT = 1_002

const batchOf = (name: string, count: number, userId: (n: number) => string) => ({
  batch: Array.from({ length: count }, (_, n) => ({
    type: 'track',
    event: 'Seat Reserved',
    userId: userId(n),
    messageId: `${name}-${n}`,
  })),
})

describe('a workspace with trouble', () => {
  let dashboard: Dashboard
  let cinema: SourceMade
  beforeAll(async () => {
    dashboard = await Dashboard.open()
    const { env } = dashboard
    env.sink.answer = ({ path, json }) => {
      if (path === '/archive') return { status: json.messageId === 'hot-0' ? 500 : 200 }
      return { status: path === '/refuses' ? 401 : path === '/sleeps' ? 503 : 200 }
    }
    cinema = await env.source({ name: 'Cinema app', type: 'Cordova' })
    const website = await env.source({ name: 'Website', type: 'Javascript' })
    const { json: made } = await env.api('POST', '/v2/transformations?publish=true', {
      name: 'Add cents',
      code: 'export const transformEvent = (event) => event',
    })
    const transformationIds = [made.transformation.id]
    const at = (path: string) => ({ webhookUrl: `${env.sink.url}${path}` })
    const well = await env.webhook({ source: website, name: 'Booking hook' })
    const off = await env.webhook({ source: website, name: 'Nightly dump' })
    const behind = await env.webhook({ source: cinema, name: 'Slow archive', config: at('/archive') })
    const resting = await env.webhook({ source: cinema, name: 'Sleeping CRM', config: at('/sleeps') })
    const refused = await env.webhook({ source: cinema, name: 'Refusing CRM', config: at('/refuses') })
    await env.api('PATCH', `/v2/destinations/${off.destinationId}`, { enabled: false })
    await env.api('PATCH', `/v2/destinations/${well.destinationId}`, { transformationIds })
    await env.api('PATCH', `/v2/destinations/${resting.destinationId}`, { transformationIds })
    await env.send(
      '/v1/batch',
      batchOf('u', USERS, (n) => `u-${n}`),
      cinema.writeKey,
    )
    await env.send(
      '/v1/batch',
      batchOf('hot', HOT, () => 'u-hot'),
      cinema.writeKey,
    )
    await env.send('/v1/track', 'no JSON', website.writeKey)
    const becomes = (id: string, expected: object) =>
      vi.waitFor(
        async () => {
          const { json } = await env.api('GET', `/v2/destinations/${id}/delivery`)
          expect(json).toMatchObject(expected)
        },
        { timeout: 20_000, interval: 50 },
      )
    await becomes(refused.destinationId, { state: 'unauthorised' })
    await becomes(resting.destinationId, { state: 'resting' })
    await becomes(behind.destinationId, { hotId: { id: 'u-hot' } })
  }, 60_000)
  afterAll(() => dashboard[Symbol.asyncDispose]())

  test('J1: every trouble has its mark and word, first in order, without a click', async () => {
    await using visit = await dashboard.visit('/')
    const { page } = visit
    const flow = page.getByRole('region', { name: 'Flow of events' })
    const names = ['Refusing CRM', 'Sleeping CRM', 'Slow archive', 'Nightly dump', 'Booking hook']
    await expect
      .poll(async () => (await flow.getByRole('link').allTextContents()).filter((name) => names.includes(name)))
      .toEqual(names)
    for (const words of ['✕credentials refused', '◆failing', '▲behind 1 min', '○off', '●ok']) {
      await flow.getByText(words.slice(1), { exact: true }).first().waitFor()
      expect((await flow.textContent())!).toContain(words)
    }
    const needs = page.getByRole('complementary', { name: 'Needs attention' })
    await needs
      .getByRole('link', { name: /^Refusing CRM Queued: destination refuses the credentials \(401\) since/ })
      .waitFor()
    await needs.getByRole('link', { name: /^Sleeping CRM Queued: destination answers 503 since/ }).waitFor()
    // The head of every page says it, too, in the worst colour.
    const mark = page.getByRole('link', { name: /^3 destinations need attention: Refusing CRM: credentials refused/ })
    expect(await mark.getAttribute('data-state')).toBe('bad')
    await mark.click()
    await expect
      .poll(() => page.getByRole('table', { name: 'Destinations' }).getByRole('row').allTextContents())
      .toHaveLength(4)
    await page.goBack()
    expect(await needs.getByText('Nightly dump').count()).toBe(0)
    expect(visit.clicks).toBe(0)
  })

  test('its files come in one round, and what it shows is asked for before the page is made', async () => {
    await using visit = await dashboard.visit('/')
    const { page } = visit
    const asked: string[] = []
    page.on('request', (request) => asked.push(new URL(request.url()).pathname))
    await page.reload()
    await page.getByRole('region', { name: 'Flow of events' }).getByText('Cinema app').first().waitFor()
    const isFile = (path: string) => path.startsWith('/ui/assets/')
    const files = asked.filter(isFile)
    expect(files.length).toBeGreaterThan(0)
    expect(files.length).toBeLessThanOrEqual(8)
    const [first, ...others] = asked.slice(asked.findLastIndex(isFile) + 1)
    expect(first).toBe('/v2/sources')
    // The shell's own come once it stands.
    expect(others.slice(0, 5)).not.toContain('/v2/session')
  })

  test('a focused node is shown with its neighbours; the link says so, and Back shows all again', async () => {
    await using visit = await dashboard.visit('/')
    const { page } = visit
    const flow = page.getByRole('region', { name: 'Flow of events' })
    await flow.getByRole('button', { name: 'Show only Website and its connections' }).click()
    await page.getByText('Only Website and its connections.').waitFor()
    expect(await flow.getByRole('link', { name: 'Cinema app' }).count()).toBe(0)
    expect(await flow.getByRole('link', { name: 'Booking hook' }).count()).toBe(1)
    await page.reload()
    await page.getByText('Only Website and its connections.').waitFor()
    await page.goBack()
    await flow.getByRole('link', { name: 'Cinema app' }).waitFor()
  })

  test('pointing at a transformation marks every lane that runs it', async () => {
    await using visit = await dashboard.visit('/')
    const { page } = visit
    const flow = page.getByRole('region', { name: 'Flow of events' })
    await flow.getByRole('link', { name: 'Add cents' }).first().hover()
    expect(await flow.locator('[data-marked] a').allTextContents()).toEqual(
      expect.arrayContaining(['Sleeping CRM', 'Booking hook']),
    )
    expect(await flow.locator('[data-marked]').getByText('Slow archive').count()).toBe(0)
  })

  test('a table says in words what the picture shows', async () => {
    await using visit = await dashboard.visit('/')
    const row = visit.page.getByRole('table', { name: 'Connections' }).getByRole('row', { name: /Sleeping CRM/ })
    await expect.poll(() => row.textContent()).toMatch(/Cinema app.*Add cents.*Sleeping CRM.*failing/)
  })

  test('without the server what was read stays, and comes back to life by itself', async () => {
    await using visit = await dashboard.visit('/')
    const { page } = visit
    const flow = page.getByRole('region', { name: 'Flow of events' })
    await flow.getByText('credentials refused', { exact: true }).first().waitFor()
    dashboard.proxy.fate = () => 'cut'
    await page.getByText(/^As of .*\. No connection to the server\. Retrying in \d s\.$/).waitFor()
    expect(await flow.getByRole('link', { name: 'Refusing CRM' }).isVisible()).toBe(true)
    dashboard.proxy.fate = () => 'pass'
    await page.getByText('No connection to the server.').waitFor({ state: 'detached' })
  })

  test('axe finds nothing and nothing scrolls sideways, light and wide or dark and narrow', async () => {
    await using visit = await dashboard.visit('/')
    await visit.page.getByText('credentials refused', { exact: true }).first().waitFor()
    expect(await visit.flaws()).toEqual([])
  })
})

describe('a workspace that begins', () => {
  let dashboard: Dashboard
  beforeAll(async () => {
    dashboard = await Dashboard.open()
  })
  afterAll(() => dashboard[Symbol.asyncDispose]())

  test('without a source it says what one is for; a viewer is told whom to ask', async () => {
    await using visit = await dashboard.visit('/')
    await visit.page.getByText('No sources yet. Create one to get a write key for your app.').waitFor()
    await visit.page.getByRole('link', { name: 'New source' }).waitFor()
    const token = await dashboard.newUser('viewer')
    await using asViewer = await dashboard.visit('/', { token, email: 'viewer@cinema.example' })
    const button = asViewer.page.getByRole('button', { name: 'New source' })
    await button.waitFor()
    expect(await button.isDisabled()).toBe(true)
    await button.locator('..').hover()
    await asViewer.page.getByText('Needs the role editor.').waitFor()
  })

  test('with nothing but the samples of the first start it says what comes next', async () => {
    const { env } = dashboard
    const quickstart = await env.source({ name: 'Quickstart' })
    await env.webhook({ source: quickstart })
    await env.send(
      '/v1/batch',
      batchOf('sample', 3, (n) => `u-${n}`),
      quickstart.writeKey,
    )
    await using visit = await dashboard.visit('/')
    await visit.page.getByText('Three sample events were delivered. Connect your app next.').waitFor()
    await visit.page.getByText('Nothing needs attention.').waitFor()
  })
})
