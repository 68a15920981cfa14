import { afterAll, beforeAll, expect, test } from 'vitest'
import { OAuthServer } from '../oauth-server.ts'
import { Dashboard } from './browser.ts'

/* A refresh token from the page of a service, got from the form of a destination (destinations.md §7e). */

let dashboard: Dashboard
let service: OAuthServer
beforeAll(async () => {
  dashboard = await Dashboard.open()
  service = await OAuthServer.open()
  service.redirectUris.add(`${dashboard.proxy.url}/ui/oauth`)
})
afterAll(async () => {
  await dashboard?.[Symbol.asyncDispose]()
  await service?.[Symbol.asyncDispose]()
})

const config = () => ({
  instanceUrl: service.origin,
  oauthClientId: service.clientId,
  oauthClientSecret: service.clientSecret,
  externalIdField: 'Millrace_Id__c',
})

async function saved(name: string, type = 'SALESFORCE', written: object = config()): Promise<string> {
  const body = { name, type, enabled: false, config: written }
  return (await dashboard.env.api('POST', '/v2/destinations', body)).json.destination.id
}

test.each([
  ['light', 1440],
  ['dark', 360],
] as const)(
  'a person allows it at the service in another tab, and the form gets the token, %s at %d px',
  async (theme, width) => {
    const id = await saved(`CRM ${width}`)
    await using visit = await dashboard.visit(`/destinations/${id}/config`, { theme, width })
    const { page } = visit
    const account = page.getByRole('region', { name: 'Refresh token from the service' })
    await page.getByRole('combobox', { name: 'OAuth 2 flow' }).click()
    await page.getByRole('option', { name: 'refresh_token' }).click()
    await account.getByText(`${dashboard.proxy.url}/ui/oauth`).waitFor()
    await account.getByRole('button', { name: 'Get a refresh token' }).click()
    const link = account.getByRole('link', { name: `Continue at ${new URL(service.origin).host}` })
    await link.waitFor()
    expect([await visit.axe(), await visit.sideways()]).toEqual([[], 0])
    const [back] = await Promise.all([page.context().waitForEvent('page'), link.click()])
    await back.getByText('Done. Close this tab and go back to the tab where you began.').waitFor()
    expect(back.url()).toBe(`${dashboard.proxy.url}/ui/oauth`)
    await account.getByText('The refresh token is filled in. Save to keep it.').waitFor()
    expect([await visit.axe(), await visit.sideways()]).toEqual([[], 0])
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    await page.getByText('Saved.', { exact: true }).waitFor()
    const { destination } = (await dashboard.env.api('GET', `/v2/destinations/${id}`)).json
    expect(destination.config).toMatchObject({ oauthGrant: 'refresh_token', oauthRefreshToken: '********' })
  },
)

test('a link that somebody else made gives no tab a code, and shows nothing of its own', async () => {
  const id = await saved('CRM', 'SALESFORCE', { ...config(), oauthGrant: 'refresh_token', oauthRefreshToken: 'old' })
  await using visit = await dashboard.visit(`/destinations/${id}/config`)
  const { page } = visit
  const account = page.getByRole('region', { name: 'Refresh token from the service' })
  await account.getByRole('button', { name: 'Get a refresh token' }).click()
  await account.getByRole('link').waitFor()
  const forged = await page.context().newPage()
  await forged.goto('/ui/oauth?state=guessed&code=of-eve&error=Call%20us')
  await forged.getByText('No tab of this browser waits for this answer.').waitFor()
  expect(await forged.getByText('Call us').count()).toBe(0)
  await account.getByText('Waiting for you to allow it there').waitFor()
})

test('a service that refuses is quoted at the form that asked', async () => {
  const id = await saved('CRM', 'SALESFORCE', { ...config(), oauthGrant: 'refresh_token', oauthRefreshToken: 'old' })
  await using visit = await dashboard.visit(`/destinations/${id}/config`)
  const { page } = visit
  const account = page.getByRole('region', { name: 'Refresh token from the service' })
  await account.getByRole('button', { name: 'Get a refresh token' }).click()
  const url = new URL((await account.getByRole('link').getAttribute('href'))!)
  const back = await page.context().newPage()
  await back.goto(`/ui/oauth?state=${url.searchParams.get('state')}&error=access_denied`)
  await account.getByText('The service gave no refresh token: access_denied').waitFor()
  await back.getByText('Done.').waitFor()
})

test('a type, or a flow, without a refresh token offers none', async () => {
  const id = await saved('CRM')
  await using visit = await dashboard.visit(`/destinations/${id}/config`)
  await visit.page.getByRole('combobox', { name: 'OAuth 2 flow' }).waitFor()
  expect(await visit.page.getByRole('button', { name: 'Get a refresh token' }).count()).toBe(0)
})
