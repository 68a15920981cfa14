import type { Code } from '../../api/code.ts'

/** Unsaved code that survives closing the tab. */
export interface UnsavedCode {
  readonly code: string
  readonly language: Code['language']
  /** The version on which it is based. */
  readonly over: string
}

const PREFIX = 'millrace.code.'
/** The most recently written code is kept longest. */
const MOST = 20

export function unsavedCode(storage: Storage, id: string): UnsavedCode | undefined {
  try {
    const kept = JSON.parse(storage.getItem(PREFIX + id) ?? 'null') as (UnsavedCode & { at: number }) | null
    if (kept === null || typeof kept.code !== 'string') return undefined
    return { code: kept.code, language: kept.language, over: kept.over }
  } catch {
    return undefined
  }
}

export function keepUnsavedCode(storage: Storage, id: string, written: UnsavedCode, at: number): void {
  forget(storage, MOST - 1, PREFIX + id)
  try {
    storage.setItem(PREFIX + id, JSON.stringify({ ...written, at }))
  } catch {
    // The browser's storage is full: delete older code and try once more.
    forget(storage, 0, PREFIX + id)
    try {
      storage.setItem(PREFIX + id, JSON.stringify({ ...written, at }))
    } catch {
      // Without storage it lasts only while the page is open.
    }
  }
}

export function dropUnsavedCode(storage: Storage, id: string): void {
  storage.removeItem(PREFIX + id)
}

/** Keeps at most `most` of the others, the newest. */
function forget(storage: Storage, most: number, own: string): void {
  const others = Array.from({ length: storage.length }, (_, at) => storage.key(at) ?? '')
    .filter((key) => key.startsWith(PREFIX) && key !== own)
    .map((key) => ({ key, at: writtenAt(storage.getItem(key)) }))
    .sort((a, b) => b.at - a.at)
  for (const { key } of others.slice(most)) storage.removeItem(key)
}

function writtenAt(text: string | null): number {
  try {
    return Number((JSON.parse(text ?? '') as { at?: unknown }).at) || 0
  } catch {
    return 0
  }
}
