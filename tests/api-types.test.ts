import { spawnSync } from 'node:child_process'
import path from 'node:path'
import { expect, test } from 'vitest'

test('the types of the HTTP API are those of the OpenAPI document: run npm run api:types', () => {
  const program = path.join(import.meta.dirname, '..', 'scripts', 'api-types.ts')
  const { status, stderr } = spawnSync(process.execPath, [program, '--check'], { encoding: 'utf8' })
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
})
