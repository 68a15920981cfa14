import { afterEach, beforeEach, expect, test } from 'vitest'
import { pathOf } from '../browser/routes.ts'
import { TestApp } from '../testing/test-app.ts'

let app: TestApp
beforeEach(async () => {
  app = await TestApp.open()
})
afterEach(() => app[Symbol.asyncDispose]())

test.each([
  ['#/cart?from=mail#x', '/shop', '/cart'],
  ['#!/cart', '/shop', '/cart'],
  ['#anchor', '/shop', '/shop'],
  ['', '/shop/', '/shop/'],
])('hash %j on %s is the path %s', (hash, pathname, path) => {
  expect(pathOf({ hash, pathname })).toBe(path)
})

test('a route becomes a screen with the integrations of initialize; the same twice in a row counts once', async () => {
  await app.ready({ recordScreenViews: true }, { integrations: { A: false } })
  for (const path of ['/', '/cart', '/cart', '/']) app.onRoute({ path, title: 'Shop' })
  await app.client.track('Last')
  const screens = (await app.queued()).filter(({ type }) => type === 'screen')
  expect(screens.map(({ name }) => name)).toEqual(['/', '/cart', '/'])
  expect(screens[1]).toMatchObject({
    event: '/cart',
    properties: { name: '/cart', path: '/cart', title: 'Shop', automatic: true },
    integrations: { All: true, A: false },
  })
})

test('screenNameOf names a screen, and null skips it', async () => {
  const names: Record<string, string | null> = { '/cart': 'Cart', '/debug': null }
  await app.ready({ recordScreenViews: true, screenNameOf: (path: string) => names[path] })
  for (const path of ['/cart', '/debug', '/unknown']) app.onRoute({ path, title: '' })
  await app.client.track('Last')
  expect((await app.queued()).map(({ event }) => event)).toEqual(['Cart', 'Last'])
})

test('recordScreenViews false watches nothing', async () => {
  let isWatched = false
  await using quiet = await TestApp.open({ watchRoutes: () => (isWatched = true) })
  await quiet.ready()
  expect(isWatched).toBe(false)
})
