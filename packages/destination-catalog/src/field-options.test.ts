import type { JsonObject } from '@millrace/protocol'
import { afterAll, expect, test } from 'vitest'
import type { SendCaptured } from './catalog-run.ts'
import type { CatalogRequest } from './requests/rewrites.ts'
import { TEST_RUN, testCatalog } from './testing/test-catalog.ts'

/* Choices that a service lists for fields of mappings. @see contracts/destination-catalog.md §10 */

const catalog = testCatalog()
afterAll(() => catalog[Symbol.asyncDispose]())

const KLAVIYO = { api_key: 'key-of-klaviyo' }

/** Asks for the choices of a field of Klaviyo's lists, which the service answers so. */
async function lists(status: number, body: JsonObject) {
  const requests: CatalogRequest[] = []
  const send: SendCaptured = async (request) => {
    requests.push(request)
    return { status, statusText: '', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }
  }
  const field = { action: 'upsertProfile', name: 'list_id', values: {} }
  const end = await catalog.fieldOptions('CATALOG_KLAVIYO', field, { ...TEST_RUN, config: KLAVIYO }, send)
  return { requests, end }
}

test('the service is asked with the credentials of the configuration, and its choices are listed', async () => {
  const data = [{ id: 'Xy12ab', attributes: { name: 'Newsletter' } }]
  const { requests, end } = await lists(200, { data, links: { next: null } })
  expect(requests).toMatchObject([{ method: 'GET', headers: { authorization: 'Klaviyo-API-Key key-of-klaviyo' } }])
  expect(end).toEqual({ choices: [{ label: 'Newsletter', value: 'Xy12ab' }] })
})

test('why the service lists none is told', async () => {
  const { end } = await lists(401, { errors: [{ code: 'not_authenticated', detail: 'no such key' }] })
  expect('choices' in end ? end.choices : end.text).toMatch(/\w/)
  expect('kind' in end && end.kind).toBe('abort')
})

test('choices may depend on the values of other fields, and need no request where the code knows them', async () => {
  const send = () => Promise.reject(new Error('nothing is to be sent'))
  const run = { ...TEST_RUN, config: { accountSID: 'AC1', apiKeySID: 'SK1', apiKeySecret: 'secret-of-twilio' } }
  const of = async (name: string, values: JsonObject) => {
    const end = await catalog.fieldOptions(
      'CATALOG_TWILIO_MESSAGING',
      { action: 'sendMessage', name, values },
      run,
      send,
    )
    return 'choices' in end ? end.choices.map(({ value }) => value) : end.text
  }
  expect(await of('channel', {})).toContain('SMS')
  expect(await of('senderType', { channel: 'Messenger' })).not.toEqual(await of('senderType', { channel: 'SMS' }))
})

test('65 fields of 15 entries have choices that a service lists', () => {
  const counts = catalog.names().map((name) => {
    const fields = Object.values(catalog.actions(name).actions).flatMap((action) => Object.values(action.fields))
    return fields.filter(({ dynamic }) => dynamic !== undefined).length
  })
  expect([counts.reduce((sum, count) => sum + count), counts.filter((count) => count > 0).length]).toEqual([65, 15])
})
