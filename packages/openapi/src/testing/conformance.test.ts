import { expect, test } from 'vitest'
import { closed, openApiDocument, type RouteDescription, refusals, Type } from '../index.ts'
import { Conformance } from './conformance.ts'

const description: RouteDescription = {
  tag: 'Things',
  summary: 'Make a thing',
  access: 'token',
  query: { limit: Type.Integer({ minimum: 1, maximum: 5 }) },
  body: { schema: closed({ name: Type.String() }), example: { name: 'a' } },
  answers: {
    200: { text: 'It.', schema: closed({ id: Type.Integer() }) },
    204: { text: 'Gone.' },
    ...refusals({ 404: ['No'] }),
  },
}
const about = { title: 'T', version: '1', description: '', tags: {} }
const document = openApiDocument(about, [{ method: 'POST', path: '/v2/things/{id}', description }])
const conformance = new Conformance(document)
const good = { method: 'POST', path: '/v2/things/7?x=1', requestBody: { name: 'b' }, status: 200, text: '{"id":1}' }
const refused = { ...good, status: 404, text: '{"error":"No","code":"not_found","details":null}' }

test.each([
  ['the form that is described', good],
  ['a slash at the end', { ...good, path: '/v2/things/7/' }],
  ['a refused request of any form', { ...refused, requestBody: '!' }],
  ['an unknown path that is not found', { ...refused, path: '/v2/x' }],
  ['a query as it is described', { ...good, path: '/v2/things/7?limit=5&since=' }],
  ['a refused query', { ...refused, path: '/v2/things/7?limit=6' }],
  ['a path outside /v2', { ...good, path: '/v1/track', text: 'OK' }],
])('lets pass: %s', (_, exchange) => {
  expect(() => conformance.check(exchange)).not.toThrow()
})

test.each([
  ['a member too many in the answer', { ...good, text: '{"id":1,"colour":2}' }, 'must NOT have additional properties'],
  ['a status that is not described', { ...good, status: 202 }, 'the route has no answer 202'],
  ['a body where there is to be none', { ...good, status: 204 }, 'an answer 204 has no body'],
  [
    'a request that should not have succeeded',
    { ...good, requestBody: { nam: 'b' } },
    'the request was carried out, but',
  ],
  ['a route that nothing tells of', { ...good, path: '/v2/x' }, 'there is no such route'],
  [
    'an error of another form',
    { ...good, status: 404, text: '{"message":"No"}' },
    "must have required property 'error'",
  ],
  ['a query that should not have succeeded', { ...good, path: '/v2/things/7?limit=6' }, 'it/limit must be <= 5'],
  ['no JSON', { ...good, text: 'OK' }, 'it is not JSON'],
])('finds %s', (_, exchange, fault) => {
  expect(() => conformance.check(exchange)).toThrow(fault)
})
