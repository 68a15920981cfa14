import { expect, test } from 'vitest'
import type { Code } from '../../../api/code.ts'
import type { Tagged } from '../../../api/requests/reading.ts'
import { etagForSave } from '../../../components/form/edited-base.ts'
import { codeBase, isOlder } from './code-base.ts'

const read = { versionId: 'v1', publishedVersionId: null, name: 'Add cents', description: '', etag: '"1"' }
const code = (changes: object) => ({ ...read, ...changes }) as Tagged<Code>

test('your own Publish is no conflict, but a version or name that a colleague saved is', () => {
  const base = codeBase(code({}))
  expect(etagForSave(base, codeBase(code({ publishedVersionId: 'v1', etag: '"2"' })))).toBe('"2"')
  expect(etagForSave(base, codeBase(code({ versionId: 'v2', etag: '"2"' })))).toBe('"1"')
  expect(etagForSave(base, codeBase(code({ name: 'Theirs', etag: '"2"' })))).toBe('"1"')
})

test('stored code keeps the version on which it is based', () => {
  expect(isOlder(codeBase(code({ versionId: 'v2' }), 'v1'), code({ versionId: 'v2' }))).toBe(true)
  expect(isOlder(codeBase(code({})), code({}))).toBe(false)
})
