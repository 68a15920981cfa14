import { ManualClock } from '@millrace/std'
import { expect, test } from 'vitest'
import { AnsweringServer, run } from './command-under-test.ts'
import { during } from './progress.ts'

function terminal(isTTY: boolean) {
  const written: string[] = []
  return { written, clock: new ManualClock(0), stderr: { isTTY, write: (text: string) => void written.push(text) } }
}

test('what takes longer than two seconds is named on a terminal, and the line is gone at the end', async () => {
  const io = terminal(true)
  const work = Promise.withResolvers<string>()
  const result = during('waiting for it', io, work.promise)
  await io.clock.advance(1_999)
  expect(io.written).toEqual([])
  await io.clock.advance(1)
  await io.clock.advance(1_000)
  expect(io.written).toEqual(['\rwaiting for it, 2 s\u001b[K', '\rwaiting for it, 3 s\u001b[K'])
  work.resolve('done')
  expect(await result).toBe('done')
  await io.clock.advance(10_000)
  expect(io.written.slice(2)).toEqual(['\r\u001b[K'])
})

test('nothing is said of what is over in time, nor where nobody looks', async () => {
  const quick = terminal(true)
  await during('waiting for it', quick, Promise.resolve())
  await quick.clock.advance(10_000)
  const file = terminal(false)
  const work = Promise.withResolvers<void>()
  const result = during('waiting for it', file, work.promise)
  await file.clock.advance(10_000)
  work.reject(new Error('broken'))
  await expect(result).rejects.toThrow('broken')
  expect([...quick.written, ...file.written]).toEqual([])
})

test('a command that waits for the server says so on stderr alone', async () => {
  await using server = await AnsweringServer.start({
    'GET /v2/access-tokens': [200, { accessTokens: [], paging: { total: 0, next: '' } }],
  })
  const env = { MILLRACE_URL: server.url, MILLRACE_TOKEN: 'token-of-ada' }
  // Two seconds are over before any answer can be there.
  const setTimer = (callback: () => void) => {
    const immediate = setImmediate(callback)
    return { cancel: () => clearImmediate(immediate) }
  }
  const clock = { now: () => 0, monotonic: () => 2_000, setTimer }
  const { out, err } = await run(['token', 'list', '--json'], env, { isTerminal: true, clock })
  expect(JSON.parse(out).accessTokens).toEqual([])
  expect(err).toContain(`\rwaiting for ${server.url}, 0 s\u001b[K`)
  expect(err.endsWith('\r\u001b[K')).toBe(true)
  expect((await run(['token', 'list', '--json'], env, { clock })).err).toBe('')
})
