import fastify from 'fastify'
import { expect, test } from 'vitest'
import { CatalogOutcomeUnknownError, CatalogUnavailableError } from '../thread/catalog-calls.ts'
import { catalogRoutes } from './catalog-routes.ts'

test.each([
  ['was not done', new CatalogUnavailableError('away'), [], 'Service unavailable'],
  [
    'may be done',
    new CatalogOutcomeUnknownError('away'),
    ['delete', 'update'],
    'Service unavailable: the request may still be carried out',
  ],
])('a purge or rebuild that %s is answered so, and audited if it may be done', async (_, error, actions, text) => {
  const audited: string[] = []
  await using app = fastify()
  app.addHook('onRequest', async (request) => {
    request.audit = ({ action }) => audited.push(action)
  })
  await app.register(catalogRoutes({ ask: () => Promise.reject(error), rebuild: () => Promise.reject(error) }))
  for (const [method, url] of [
    ['DELETE', '/sources/s/catalog'],
    ['POST', '/admin/rebuild-catalog'],
  ] as const) {
    const answer = await app.inject({ method, url })
    expect(answer.json().message).toBe(text)
  }
  expect(audited).toEqual(actions)
})
