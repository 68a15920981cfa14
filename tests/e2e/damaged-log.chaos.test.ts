import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DevEnv } from '@millrace/dev-env'
import { expect, test } from 'vitest'

test('after a crash that damaged the log, /health names the offsets of acknowledged events that may be lost, and events are accepted', async () => {
  const copy = mkdtempSync(join(tmpdir(), 'millrace-damaged-'))
  try {
    await using env = await DevEnv.open()
    const { writeKey } = await env.source()
    const send = (event: string) => env.send('/v1/track', { userId: 'u', event }, writeKey)
    for (let i = 0; i < 10; i++) expect((await send(`Event ${i}`)).status).toBe(200)
    // As a crash leaves it.
    cpSync(env.folder, copy, { recursive: true, filter: (path) => !path.endsWith('-shm') })
    const wal = join(copy, 'log', '0.db-wal')
    const damaged = readFileSync(wal)
    damaged[Math.floor(damaged.length * 0.6)]! ^= 1
    writeFileSync(wal, damaged)
    await env.restart({ MILLRACE_DATA_DIR: copy })
    const { status, json } = await env.request('/health')
    expect([status, json.checks.damage]).toEqual([
      200,
      expect.stringMatching(/^offsets [4-7] to 16777215 may be lost$/),
    ])
    expect((await send('Later')).status).toBe(200)
  } finally {
    rmSync(copy, { recursive: true, force: true })
  }
})
