import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { DevEnv } from '@millrace/dev-env'
import { Conformance } from '@millrace/openapi/testing'
import { Validator } from '@seriousme/openapi-schema-validator'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

/** contracts/ingest.md §1: a raw handler serves these, so that no framework knows them. */
const INGEST = [
  ...['identify', 'track', 'page', 'screen', 'group', 'alias', 'merge', 'i', 't', 'p', 's', 'g', 'a', 'batch', 'b'].map(
    (name) => `POST /v1/${name}`,
  ),
  'POST /v1/import',
  'POST /v1/backfill',
  'POST /beacon/v1/batch',
  'POST /s/v1/batch',
  'POST /v1/webhook',
  'POST /hooks/{writeKey}',
  'GET /pixel/v1/track',
  'GET /pixel/v1/page',
]
const METHODS = ['get', 'post', 'put', 'patch', 'delete']

interface Operation {
  readonly operationId: string
  readonly security: readonly object[]
  readonly requestBody?: { readonly content: Record<string, { readonly example: unknown }> }
  readonly responses: Record<string, { content?: Record<string, { examples?: Record<string, { value: unknown }> }> }>
}

let env: DevEnv
let inboxPath: string
// biome-ignore lint/suspicious/noExplicitAny: the document is JSON of a known form
let document: any
let operations: { readonly method: string; readonly path: string; readonly operation: Operation }[]
beforeAll(async () => {
  env = await DevEnv.open()
  inboxPath = `/inbox/${readFileSync(join(env.folder, 'inbox.key'), 'utf8').trim()}`
  document = (await env.request('/openapi.json')).json
  operations = Object.entries<Record<string, Operation>>(document.paths).flatMap(([path, byMethod]) =>
    METHODS.flatMap((method) => {
      const operation = byMethod[method]
      return operation === undefined ? [] : [{ method: method.toUpperCase(), path, operation }]
    }),
  )
})
afterAll(() => env[Symbol.asyncDispose]())

describe('GET /openapi.json', () => {
  test('is open to everybody, and valid OpenAPI 3.1', async () => {
    const { status, headers } = await env.request('/openapi.json')
    expect({ status, type: headers.get('content-type') }).toEqual({
      status: 200,
      type: 'application/json; charset=utf-8',
    })
    expect(document.openapi).toMatch(/^3\.1\./)
    const result = await new Validator().validate(structuredClone(document))
    expect(result).toMatchObject({ valid: true })
  })

  test('describes every route that answers', () => {
    expect(env.routes.undescribed()).toEqual([])
    const described = operations.map(({ method, path }) => `${method} ${path}`)
    expect(INGEST.filter((route) => !described.includes(route))).toEqual([])
    const registered = env.routes.registered().map((route) => route.replace(inboxPath, '/inbox/{key}'))
    expect(registered.filter((route) => !described.includes(route))).toEqual([])
  })

  test('describes no route that does not answer', async () => {
    const silent: string[] = []
    for (const { method, path } of operations) {
      const url = path.replace('/inbox/{key}', inboxPath).replace(/\{\w+\}/g, 'x')
      const answer = await fetch(env.url + url, { method, redirect: 'manual' })
      const text = await answer.text()
      const isUnknown = answer.status === 404 && text.includes('Not Found')
      if (answer.status === 405 || isUnknown) silent.push(`${method} ${path}: ${answer.status}`)
    }
    expect(operations.length).toBeGreaterThan(40)
    expect(silent).toEqual([])
  })

  test('says truly which routes are open', async () => {
    // It takes the credentials as its body.
    const isSignIn = ({ method, path }: (typeof operations)[number]) => `${method} ${path}` === 'POST /v2/session'
    expect(operations.find(isSignIn)?.operation.security).toEqual([])
    const below = operations.filter(({ path }) => path.startsWith('/v2') || path === '/inbox/quickstart')
    const guarded = below.filter((each) => !isSignIn(each))
    // Side by side: whoever has failed a hundred times waits for each further answer.
    const answers = guarded.map(({ method, path }) => fetch(env.url + path.replace(/\{\w+\}/g, 'x'), { method }))
    for (const [i, { status }] of (await Promise.all(answers)).entries()) {
      const { method, path, operation } = guarded[i]!
      expect(operation.security, `${method} ${path}`).not.toEqual([])
      expect(status, `${method} ${path}`).toBe(401)
      expect(operation.responses).toHaveProperty('401')
    }
  })

  test('its examples are what its schemas say', () => {
    const conformance = new Conformance(document)
    let count = 0
    for (const { method, path, operation } of operations) {
      const example = operation.requestBody?.content['application/json']?.example
      for (const [status, { content }] of Object.entries(operation.responses)) {
        for (const { value } of Object.values(content?.['application/json']?.examples ?? {})) {
          const exchange = { method, path: path.replace(/\{\w+\}/g, 'x'), status: Number(status) }
          conformance.check({ ...exchange, requestBody: example, text: JSON.stringify(value) })
          count++
        }
      }
    }
    expect(count).toBeGreaterThan(100)
  })

  test('every operation has its own id, and every answer with a body an example', () => {
    const ids = operations.map(({ operation }) => operation.operationId)
    expect(ids).toEqual([...new Set(ids)])
    const bare = operations.flatMap(({ method, path, operation }) =>
      Object.entries(operation.responses).flatMap(([status, { content = {} }]) => {
        const json = content['application/json']
        return json !== undefined && json.examples === undefined ? [`${method} ${path} ${status}`] : []
      }),
    )
    expect(bare).toEqual([])
  })

  test('does not give away where the inbox is', async () => {
    const key = inboxPath.split('/').at(-1)!
    expect(JSON.stringify(document)).not.toContain(key)
    expect((await env.request('/docs')).text).not.toContain(key)
  })
})

describe('GET /docs', () => {
  test('shows every route, is open to everybody, and loads nothing', async () => {
    const { status, headers, text } = await env.request('/docs')
    expect(status).toBe(200)
    expect(headers.get('content-type')).toBe('text/html; charset=utf-8')
    expect(headers.get('content-security-policy')).toMatch(
      /^default-src 'none'; style-src 'sha256-[\w+/=]+'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'$/,
    )
    for (const { operation } of operations) expect(text).toContain(`<div id="${operation.operationId}">`)
    const loading = /<(script|img|link|iframe|object|embed|audio|video|source|form|base)\b|\bstyle=|@import|url\(/i
    expect(loading.exec(text)?.[0]).toBeUndefined()
    expect([...text.matchAll(/\bhref="([^#"][^"]*)"/g)].map(([, target]) => target)).toEqual(['/openapi.json'])
  })
})
