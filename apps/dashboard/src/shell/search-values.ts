import { useLocation, useNavigate, useRouter } from '@tanstack/react-router'
import { useCallback, useMemo } from 'react'

/** Parses a text in a link; undefined if it is invalid. */
export type Reader<T> = (text: string) => T | undefined
export type Readers = Readonly<Record<string, Reader<unknown>>>
export type SearchValues<R extends Readers> = { readonly [Name in keyof R]?: NonNullable<ReturnType<R[Name]>> }

const LONGEST = 2_000
const MAX_LISTED = 50

export const text: Reader<string> = (given) => (given.length <= LONGEST ? given : undefined)

export const flag: Reader<true> = (given) => (given === '1' ? true : undefined)

export function oneOf<const T extends string>(...values: readonly T[]): Reader<T> {
  return (given) => values.find((value) => value === given)
}

/** Several values, separated by commas: `delivered,dead`. */
export function someOf<const T extends string>(...values: readonly T[]): Reader<readonly T[]> {
  return (given) => {
    const words = given.split(',')
    return words.every((word) => values.includes(word as T)) ? (words as T[]) : undefined
  }
}

/** A column to sort by, with `-` for descending order. */
export function sortBy(...keys: readonly string[]): Reader<string> {
  return (given) => (keys.includes(given.replace(/^-/, '')) ? given : undefined)
}

export function wholeNumber(from: number, to: number): Reader<number> {
  return (given) => {
    const value = Number(given)
    return /^\d{1,15}$/.test(given) && value >= from && value <= to ? value : undefined
  }
}

/** A time as RFC 3339 in UTC; the link keeps the given text. */
export const time: Reader<string> = (given) =>
  /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d{1,3})?)?Z$/.test(given) && !Number.isNaN(Date.parse(given)) ? given : undefined

/** The selection of a list: up to 50 ids, or `all` for everything that matches the filter. */
export const selection: Reader<'all' | readonly string[]> = (given) => {
  if (given === 'all') return given
  const ids = given.split(',')
  return ids.length <= MAX_LISTED && ids.every((id) => /^[\w:.-]{1,300}$/.test(id)) ? ids : undefined
}

/** Parses the valid values of a link. */
function readSearch<R extends Readers>(readers: R, search: Readonly<Record<string, unknown>>): SearchValues<R> {
  const values: Record<string, unknown> = {}
  for (const [name, read] of Object.entries(readers)) {
    const given = search[name]
    const value = typeof given === 'string' && given !== '' ? read(given) : undefined
    if (value !== undefined) values[name] = value
  }
  return values as SearchValues<R>
}

/** The names of invalid values in a link. */
export function unknownNames(readers: Readers, search: Readonly<Record<string, unknown>>): string[] {
  const values: Readonly<Record<string, unknown>> = readSearch(readers, search)
  return Object.keys(search).filter((name) => search[name] !== '' && values[name] === undefined)
}

export type SetSearch<R extends Readers> = (
  changes: { readonly [Name in keyof R]?: SearchValues<R>[Name] | undefined },
  /** `push` adds a step to the browser's history: for panels and tabs, not for each letter of a filter. */
  how?: 'replace' | 'push',
) => void

/** The state of a view, stored only in the link. @see contracts/dashboard.md §2 [U2] */
export function useSearchValues<R extends Readers>(readers: R): readonly [SearchValues<R>, SetSearch<R>] {
  const { search, pathname }: { search: Readonly<Record<string, unknown>>; pathname: string } = useLocation()
  const navigate = useNavigate()
  const router = useRouter()
  const values = useMemo(() => readSearch(readers, search), [readers, search])
  const set = useCallback<SetSearch<R>>(
    (changes, how = 'replace') => {
      // A page that is being left may still write, for example a debounced field: its filters must not reach the next
      // page.
      if (router.latestLocation.pathname !== pathname) return
      const written = Object.fromEntries(Object.entries(changes).map(([name, value]) => [name, writtenValue(value)]))
      const search = (before: Record<string, unknown>) => ({ ...before, ...written })
      void navigate({ to: '.', search: search as never, replace: how === 'replace', resetScroll: false })
    },
    [navigate, router, pathname],
  )
  return [values, set]
}

function writtenValue(value: unknown): string | undefined {
  if (value === undefined || value === null) return undefined
  if (value === true) return '1'
  return Array.isArray(value) ? value.join(',') : String(value)
}
