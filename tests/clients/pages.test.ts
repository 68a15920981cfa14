import { readdir } from 'node:fs/promises'
import path from 'node:path'
import { ADDRESS, filledIn, KEY } from '@millrace/dashboard/client-page'
import { expect, test } from 'vitest'
import { clientTable, PAGES_FOLDER, pageOf } from './pages.ts'

test('docs/clients/README.md is what the suite makes of its clients', async () => {
  await expect(clientTable()).toMatchFileSnapshot(path.join(PAGES_FOLDER, 'README.md'))
})

test('every page has a first event with a place for the key and the address', async () => {
  const names = (await readdir(PAGES_FOLDER)).filter((name) => name !== 'README.md')
  expect(names.length).toBeGreaterThan(15)
  for (const name of names) {
    const { code } = await pageOf(name)
    const filled = filledIn(code, 'the-key', 'https://cdp.example')
    expect([name, filled.includes('the-key'), filled.includes('cdp.example')]).toEqual([name, true, true])
    expect(filled).not.toContain(ADDRESS)
    expect(filled).not.toContain(KEY)
  }
})
