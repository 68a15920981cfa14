import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { builtDashboard } from '@millrace/dashboard'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { PLAIN, ServerProcess } from '../e2e/server-process.ts'

let folder: string
beforeAll(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'millrace-start-'))
})
afterAll(() => rmSync(folder, { recursive: true }))

test('a start prints the address of the dashboard first, and serves it there', async () => {
  // So that the start need not, whose time is bound.
  await builtDashboard(() => {})
  await using server = await ServerProcess.start({ ...PLAIN, MILLRACE_DATA_DIR: folder, MILLRACE_DASHBOARD: 'on' })
  const [first] = server.stdout.split('\n')
  expect(first).toBe(`Millrace dashboard: ${server.url}/ui/`)
  const page = await fetch(`${server.url}/ui/`)
  expect(page.status).toBe(200)
  const [, script] = /<script [^>]*src="([^"]+)"/.exec(await page.text())!
  const loaded = await fetch(new URL(script!, server.url), { headers: { 'Accept-Encoding': 'gzip, br' } })
  expect([loaded.status, loaded.headers.get('content-encoding')]).toEqual([200, 'br'])
})
