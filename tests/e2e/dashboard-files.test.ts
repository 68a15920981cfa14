import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { brotliCompressSync, brotliDecompressSync, gunzipSync, gzipSync } from 'node:zlib'
import { DevEnv } from '@millrace/dev-env'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

const SCRIPT = 'console.log("flow")'
const NAME = 'index-3b1f.js'

let folder: string
let env: DevEnv
beforeAll(async () => {
  folder = mkdtempSync(path.join(tmpdir(), 'millrace-dashboard-'))
  mkdirSync(path.join(folder, 'assets'))
  writeFileSync(path.join(folder, 'index.html'), '<title>Millrace</title><meta nonce="__NONCE__">')
  writeFileSync(path.join(folder, 'manifest.json'), '{}')
  writeFileSync(path.join(folder, 'assets', NAME), SCRIPT)
  writeFileSync(path.join(folder, 'assets', `${NAME}.br`), brotliCompressSync(SCRIPT))
  writeFileSync(path.join(folder, 'assets', `${NAME}.gz`), gzipSync(SCRIPT))
  env = await DevEnv.open({ dashboardFolder: folder })
})
afterAll(async () => {
  await env[Symbol.asyncDispose]()
  rmSync(folder, { recursive: true })
})

/** Without decoding what comes. */
async function raw(url: string, headers: Record<string, string> = {}) {
  const { request } = await import('node:http')
  return new Promise<{ status: number; headers: Record<string, unknown>; body: Buffer }>((resolve, reject) => {
    const sent = request(new URL(url, env.url), { headers }, async (response) => {
      resolve({
        status: response.statusCode!,
        headers: response.headers,
        body: Buffer.concat(await response.toArray()),
      })
    })
    sent.on('error', reject).end()
  })
}

describe('pages below /ui', () => {
  test.each(['/ui', '/ui/', '/ui/sources', '/ui/events/m-1%2F2?event=x', '/ui/assets'])(
    '%s is the page',
    async (url) => {
      const { status, headers, text } = await env.request(url)
      expect({ status, type: headers.get('content-type') }).toEqual({ status: 200, type: 'text/html; charset=utf-8' })
      expect(text).toContain('<title>Millrace</title>')
    },
  )

  test('its headers are those of the contract, to the letter', async () => {
    const { headers, text } = await env.request('/ui/sources')
    const [, nonce] = /nonce="([\w+/=]{24})"/.exec(text)!
    expect(headers.get('content-security-policy')).toBe(
      `default-src 'none'; script-src 'self'; style-src 'self' 'nonce-${nonce}'; img-src 'self' data:; font-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types default`,
    )
    expect(headers.get('x-content-type-options')).toBe('nosniff')
    expect(headers.get('referrer-policy')).toBe('no-referrer')
    expect(headers.get('cross-origin-opener-policy')).toBe('same-origin')
    expect(headers.get('cache-control')).toBe('no-store')
  })

  test('each answer has a nonce of its own', async () => {
    const pages = await Promise.all([env.request('/ui'), env.request('/ui')])
    expect(new Set(pages.map(({ text }) => text)).size).toBe(2)
  })
})

describe('files below /ui/assets', () => {
  test.each([
    ['br, gzip', 'br', brotliDecompressSync],
    ['gzip, deflate', 'gzip', gunzipSync],
    ['', undefined, (body: Buffer) => body],
  ])('whoever accepts "%s" is sent it as %s, to keep for ever', async (accepted, encoding, decode) => {
    const { status, headers, body } = await raw(`/ui/assets/${NAME}`, { 'Accept-Encoding': accepted })
    expect(status).toBe(200)
    expect(headers['content-encoding']).toBe(encoding)
    expect(headers['content-type']).toBe('text/javascript; charset=utf-8')
    expect(headers['cache-control']).toBe('public, max-age=31536000, immutable')
    expect(headers['vary']).toBe('Accept-Encoding')
    expect(decode(body).toString()).toBe(SCRIPT)
  })

  test.each(['none.js', `${NAME}.br`, '..%2Fmanifest.json', '..%2Findex.html', '%2e%2e%2fmanifest.json'])(
    'there is no %s',
    async (name) => {
      const { status } = await env.request(`/ui/assets/${name}`)
      expect(status).toBe(404)
    },
  )
})

describe('the root', () => {
  test('leads browsers to the dashboard', async () => {
    const { status, headers } = await env.request('/', {
      headers: { Accept: 'text/html,application/xhtml+xml,*/*;q=0.8' },
    })
    expect({ status, location: headers.get('location') }).toEqual({ status: 302, location: '/ui/' })
  })

  test('tells everybody else how the server is', async () => {
    const { status, json } = await env.request('/', { headers: { Accept: '*/*' } })
    expect(status).toBe(200)
    expect(json.server).toBe('UP')
  })
})

test('MILLRACE_DASHBOARD=off: nothing is below /ui, and the root leads nowhere', async () => {
  await using plain = await DevEnv.open()
  expect((await plain.request('/ui/')).status).toBe(404)
  expect((await plain.request('/ui/sources')).status).toBe(404)
  expect((await plain.request('/', { headers: { Accept: 'text/html' } })).status).toBe(200)
})
