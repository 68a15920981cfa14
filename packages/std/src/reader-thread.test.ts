import { mkdtempDisposableSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import { expect, test } from 'vitest'
import { ManualClock } from './manual-clock.ts'
import { ReaderThread } from './reader-thread.ts'

type Calls = { echo(text: string): string; end(nothing: undefined): void }

function threadOf(folder: string, clock: ManualClock, ends: Error[]) {
  const file = path.join(folder, 'thread.ts')
  const calls = pathToFileURL(path.join(import.meta.dirname, 'thread-calls.ts')).href
  writeFileSync(
    file,
    `import { answerCalls } from ${JSON.stringify(calls)}
     answerCalls({ echo: (text) => text, end: () => process.exit(1) })`,
  )
  const onEnd = (error: Error) => void ends.push(error)
  return new ReaderThread<Calls>({
    file: pathToFileURL(file),
    name: 'reader',
    data: () => ({ data: {} }),
    clock,
    onEnd,
  })
}

test('it starts again after it ended, the later the more often it did, and says so from three times a minute on', async () => {
  using folder = mkdtempDisposableSync(path.join(tmpdir(), 'millrace-reader-'))
  const clock = new ManualClock(0)
  const ends: Error[] = []
  const reader = threadOf(folder.path, clock, ends)
  for (const [i, waitMs] of [100, 200, 400, 800].entries()) {
    await expect(reader.call('end', undefined)).rejects.toThrow('thread reader ended')
    expect(reader.trouble()).toBe(i < 2 ? undefined : `thread reader ended ${i + 1} times within a minute`)
    let answer: string | undefined
    const called = reader.call('echo', 'x').then((text) => (answer = text))
    await clock.advance(waitMs - 1)
    expect(answer).toBe(undefined)
    await clock.advance(1)
    expect(await called).toBe('x')
  }
  expect(ends).toHaveLength(4)
  await clock.advance(60_000)
  expect(reader.trouble()).toBe(undefined)
  await reader.close()
  await expect(reader.call('echo', 'x')).rejects.toMatchObject({ code: 'THREAD_ENDED' })
})

test('a thread that was sent to rest is no trouble, and the next call starts it at once', async () => {
  using folder = mkdtempDisposableSync(path.join(tmpdir(), 'millrace-reader-'))
  const ends: Error[] = []
  const reader = threadOf(folder.path, new ManualClock(0), ends)
  for (let rests = 0; rests < 4; rests++) {
    expect(await reader.call('echo', 'x')).toBe('x')
    await reader.rest()
  }
  expect([reader.trouble(), ends]).toEqual([undefined, []])
})
