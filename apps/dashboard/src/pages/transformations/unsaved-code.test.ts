import { expect, test } from 'vitest'
import { dropUnsavedCode, keepUnsavedCode, unsavedCode } from './unsaved-code.ts'

const written = (code: string) => ({ code, language: 'javascript' as const, over: 'v1' })

test('what was kept is found again, until it is dropped', () => {
  const storage = new MemoryStorage()
  keepUnsavedCode(storage, 'a', written('one'), 1)
  keepUnsavedCode(storage, 'a', written('two'), 2)
  expect(unsavedCode(storage, 'a')).toEqual(written('two'))
  expect(unsavedCode(storage, 'b')).toBeUndefined()
  dropUnsavedCode(storage, 'a')
  expect(unsavedCode(storage, 'a')).toBeUndefined()
})

test('of 25 the 20 written last are kept; what else is stored stays', () => {
  const storage = new MemoryStorage()
  storage.setItem('millrace.theme', 'dark')
  for (let at = 1; at <= 25; at++) keepUnsavedCode(storage, `t${at}`, written(`code ${at}`), at)
  const kept = Array.from({ length: 25 }, (_, at) => `t${at + 1}`).filter((id) => unsavedCode(storage, id))
  expect(kept).toEqual(Array.from({ length: 20 }, (_, at) => `t${at + 6}`))
  expect(storage.getItem('millrace.theme')).toBe('dark')
})

test('in a full storage older code makes room', () => {
  const storage = new MemoryStorage(400)
  keepUnsavedCode(storage, 'old', written('x'.repeat(250)), 1)
  keepUnsavedCode(storage, 'new', written('y'.repeat(250)), 2)
  expect(unsavedCode(storage, 'new')?.code).toHaveLength(250)
  expect(unsavedCode(storage, 'old')).toBeUndefined()
})

test('something else under the key is nothing', () => {
  const storage = new MemoryStorage()
  storage.setItem('millrace.code.a', 'no json')
  expect(unsavedCode(storage, 'a')).toBeUndefined()
})

class MemoryStorage implements Storage {
  readonly #values = new Map<string, string>()
  readonly #most: number
  constructor(most = Number.POSITIVE_INFINITY) {
    this.#most = most
  }
  get length() {
    return this.#values.size
  }
  key(at: number) {
    return [...this.#values.keys()][at] ?? null
  }
  getItem(key: string) {
    return this.#values.get(key) ?? null
  }
  setItem(key: string, value: string) {
    const others = [...this.#values].filter(([name]) => name !== key)
    const size = [...others, [key, value]].join('').length
    if (size > this.#most) throw new Error('QuotaExceededError')
    this.#values.set(key, value)
  }
  removeItem(key: string) {
    this.#values.delete(key)
  }
  clear() {
    this.#values.clear()
  }
}
