import { DatabaseSync } from 'node:sqlite'
import { expect, test } from 'vitest'
import { TestPlane } from '../testing/test-plane.ts'

test('a change that finds another state on disk takes that over, is decided anew, and later ones work', async () => {
  await using plane = await TestPlane.open()
  const source = await plane.source({ name: 'Cinema app' })
  {
    // As after a commit that reached the disk although it was told to have failed.
    using db = new DatabaseSync(plane.file, { timeout: 5_000 })
    db.exec(`UPDATE workspace SET commits = commits + 1, revision = revision + 1;
      UPDATE source SET document = replace(document, 'Cinema app', 'Cinema kiosk') WHERE id = '${source.id}'`)
  }
  const other = await plane.source({ name: 'Box office' })
  const { sources } = await plane.ok('GET', '/v2/sources')
  expect(sources.map(({ name }: { name: string }) => name).sort()).toEqual(['Box office', 'Cinema kiosk'])
  await plane.ok('DELETE', `/v2/sources/${other.id}`)
  await plane.reopen()
  expect((await plane.ok('GET', '/v2/sources')).sources).toHaveLength(1)
})
