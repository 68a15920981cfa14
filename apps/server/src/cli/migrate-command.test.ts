import { expect, test } from 'vitest'
import { run } from './command-under-test.ts'

test('without MILLRACE_POSTGRES_URL there is nothing to migrate, and the command says who migrates then', async () => {
  const { code, out, err } = await run(['migrate'])
  expect([code, out]).toEqual([1, ''])
  expect(err).toBe(
    'MILLRACE_POSTGRES_URL is not set: there are no tables of a cluster to migrate.\n' +
      'An embedded server migrates its data folder when it starts.\n',
  )
})

test('a Postgres that does not answer is an error on one line', async () => {
  const { code, err } = await run(['migrate'], { MILLRACE_POSTGRES_URL: 'postgres://u:secret@127.0.0.1:1/d' })
  expect(code).toBe(1)
  expect(err).toMatch(/^Postgres does not answer: .*ECONNREFUSED.*\n$/)
  expect(err).not.toContain('secret')
})
