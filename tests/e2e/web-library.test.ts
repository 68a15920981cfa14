import { DevEnv, type SourceMade } from '@millrace/dev-env'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

/* What client libraries fetch before they send: contracts/ingest.md §8. tests/clients runs the libraries themselves. */

const ORIGIN = 'https://shop.example'

let env: DevEnv
let source: SourceMade
beforeAll(async () => {
  env = await DevEnv.open({ settings: { MILLRACE_TRUSTED_PROXIES: '127.0.0.1' } })
  source = await env.source({ type: 'Javascript' })
})
afterAll(() => env?.[Symbol.asyncDispose]())

const settingsOf = (from: DevEnv, writeKey: string, headers: Record<string, string> = {}) =>
  from.request(`/v1/projects/${writeKey}/settings`, { headers: { Origin: ORIGIN, ...headers } })

describe('the settings of a source', () => {
  test('lead a library to the address by which it asked, and nowhere else', async () => {
    const { status, headers, json } = await settingsOf(env, source.writeKey)
    expect([status, headers.get('cache-control')]).toEqual([200, 'private, max-age=60'])
    expect(headers.get('access-control-allow-origin')).toBe(ORIGIN)
    const apiHost = `${new URL(env.url).host}/v1`
    expect(json.integrations).toMatchObject({ 'Segment.io': { apiKey: source.writeKey, apiHost, protocol: 'http' } })
    // A second one would make the web library look for code of a destination.
    expect(Object.keys(json.integrations)).toEqual(['Segment.io'])
    expect(json.metrics).toEqual({ sampleRate: 0, host: apiHost, protocol: 'http' })
    expect(json.plan.track.__default.enabled).toBe(true)
    expect(JSON.stringify(json)).not.toContain('segment.com')
  })

  test('name the address that a trusted proxy was asked for', async () => {
    const forwarded = { 'X-Forwarded-Proto': 'https', 'X-Forwarded-Host': 'cdp.example' }
    const { json } = await settingsOf(env, source.writeKey, forwarded)
    expect(json.integrations['Segment.io']).toMatchObject({ apiHost: 'cdp.example/v1', protocol: 'https' })
  })

  test('name MILLRACE_PUBLIC_URL where it is set, and any cache may keep them', async () => {
    await using behind = await DevEnv.open({ settings: { MILLRACE_PUBLIC_URL: 'https://cdp.example/in' } })
    const { writeKey } = await behind.source()
    const { json, headers } = await settingsOf(behind, writeKey, { 'X-Forwarded-Host': 'other.example' })
    expect(json.integrations['Segment.io']).toMatchObject({ apiHost: 'cdp.example/in/v1', protocol: 'https' })
    expect(headers.get('cache-control')).toBe('public, max-age=60')
  })

  test('lead here for a key without a source, too, which would else go to the vendor', async () => {
    const { status, json, headers } = await settingsOf(env, 'nosuchkey')
    expect([status, headers.get('cache-control')]).toEqual([200, 'no-store'])
    expect(json.integrations['Segment.io'].apiHost).toBe(`${new URL(env.url).host}/v1`)
    expect(headers.get('access-control-allow-origin')).toBe(ORIGIN)
  })
})

test('every answer varies by the origin, also without one: a shared cache may keep it', async () => {
  const { text } = await env.request(`/analytics.js/v1/${source.writeKey}/analytics.min.js`)
  const paths = [
    `/v1/projects/${source.writeKey}/settings`,
    '/v1/projects/nosuchkey/settings',
    `/analytics.js/v1/${source.writeKey}/analytics.min.js`,
    `/analytics-next/bundles/ajs-destination.bundle.${hashOf(text, 'ajs-destination')}.js`,
    `/sourceConfig?writeKey=${source.writeKey}`,
  ]
  for (const path of paths) {
    const { headers } = await env.request(path)
    expect([path, headers.get('vary')?.split(', ')]).toEqual([path, expect.arrayContaining(['Origin'])])
    expect(headers.get('access-control-allow-origin')).toBeNull()
  }
})

describe('the script of the classic snippet', () => {
  const scriptOf = (writeKey: string, headers = {}) =>
    env.request(`/analytics.js/v1/${writeKey}/analytics.min.js`, { headers })

  test('is the published library with its licence, and names no server of its vendor', async () => {
    const { status, headers, text } = await scriptOf(source.writeKey)
    expect([status, headers.get('content-type')]).toEqual([200, 'text/javascript; charset=utf-8'])
    expect(text).toContain('MIT licence, Copyright (c) 2021 Segment')
    expect(text).not.toMatch(/cdn\.segment\.com|api\.segment\.io|__WRITE_KEY__"/)
    expect(() => new Function(text)).not.toThrow()
  })

  test('is kept for a minute, and is not sent again while it is the same', async () => {
    const { headers } = await scriptOf(source.writeKey)
    expect([headers.get('cache-control'), headers.get('content-encoding')]).toEqual(['public, max-age=60', 'gzip'])
    const again = await scriptOf(source.writeKey, { 'If-None-Match': headers.get('etag')! })
    expect([again.status, again.text]).toEqual([304, ''])
    const plain = await scriptOf(source.writeKey, { 'Accept-Encoding': 'identity' })
    expect(plain.headers.get('content-encoding')).toBeNull()
  })

  test('is not there for a key without a source', async () => {
    const { status, text } = await scriptOf('nosuchkey')
    expect([status, text]).toEqual([404, 'Invalid Write Key'])
  })

  test('finds its parts, and no other file', async () => {
    const { text } = await scriptOf(source.writeKey)
    const hashes = [...text.matchAll(/\b\d+:"([0-9a-f]{20})"/g)].map(([, hash]) => hash)
    expect(hashes.length).toBeGreaterThan(5)
    const names = [...text.matchAll(/\b(\d+):"([a-z][\w-]+)"/gi)].map(([, , name]) => name)
    expect(names).toContain('ajs-destination')
    const part = await env.request(
      `/analytics-next/bundles/ajs-destination.bundle.${hashOf(text, 'ajs-destination')}.js`,
    )
    expect([part.status, part.headers.get('cache-control')]).toEqual([200, 'public, max-age=31536000, immutable'])
    for (const name of ['index.js', 'standalone.js', '..%2f..%2fpackage.json', 'ajs-destination.bundle.x.js']) {
      expect((await env.request(`/analytics-next/bundles/${name}`)).status).toBe(404)
    }
  })
})

/** In the script two tables lead from a number to the name of a part, and to the hash in its file's name. */
function hashOf(script: string, name: string): string {
  const number = new RegExp(`\\b(\\d+):"${name}"`).exec(script)![1]
  return new RegExp(`\\b${number}:"([0-9a-f]{20})"`).exec(script)![1]!
}
