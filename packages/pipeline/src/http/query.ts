import { parseTime } from '@millrace/protocol'
import { RequestRefused } from './request-refused.ts'

export type Query = Readonly<Record<string, unknown>>

const DEFAULT_LIMIT = 100
/** A longer list says no total. */
const MAX_COUNTED = 10_000
/** Of a page. */
export const MAX_LIMIT = 500

/** @throws RequestRefused like all that is below. */
export function limitOf(query: Query): number {
  const given = text(query, 'limit')
  if (given === undefined) return DEFAULT_LIMIT
  const limit = /^\d{1,3}$/.test(given) ? Number(given) : 0
  if (limit < 1 || limit > MAX_LIMIT) throw new RequestRefused('bad_request', 'Invalid limit')
  return limit
}

/**
 * One page of a list that is all at hand.
 *
 * @param path of the list, such as `/v2/delivery`.
 * @see contracts/control-plane.md §4 "list"
 */
export function pageOf<T>(all: readonly T[], path: string, query: Query): { items: T[]; paging: object } {
  const limit = limitOf(query)
  const given = text(query, 'page') ?? '1'
  const page = /^\d{1,9}$/.test(given) ? Number(given) : 0
  if (page < 1) throw new RequestRefused('bad_request', 'Invalid page')
  const end = page * limit
  const limitAgain = text(query, 'limit') === undefined ? '' : `&limit=${limit}`
  const next = end < all.length ? `${path}?page=${page + 1}${limitAgain}` : ''
  return { items: all.slice(end - limit, end), paging: { total: all.length > MAX_COUNTED ? null : all.length, next } }
}

export function text(query: Query, name: string): string | undefined {
  const value = query[name]
  if (value === undefined || value === '') return undefined
  if (typeof value !== 'string') throw new RequestRefused('bad_request', `Invalid ${name}`)
  return value
}

export function oneOf<T extends string>(query: Query, name: string, allowed: readonly T[]): T | undefined {
  const value = text(query, name)
  if (value === undefined) return undefined
  if (!(allowed as readonly string[]).includes(value)) throw new RequestRefused('bad_request', `Invalid ${name}`)
  return value as T
}

export function time(query: Query, name: string): number | undefined {
  const value = text(query, name)
  if (value === undefined) return undefined
  const parsed = parseTime(value)
  if (parsed === undefined) throw new RequestRefused('bad_request', `Invalid time in ${name}`)
  return parsed
}

/** The opaque cursor of a list that grows while it is read; `page` is refused there. */
export function cursorText(query: Query): string | undefined {
  if (query['page'] !== undefined) throw new RequestRefused('bad_request', 'Invalid cursor')
  const given = query['cursor']
  if (given !== undefined && typeof given !== 'string') throw new RequestRefused('bad_request', 'Invalid cursor')
  return given === '' ? undefined : given
}

/** Reads a cursor that `rowCursor` made for the same list. @returns null for the first page. */
export function rowBefore(query: Query, list: string): number | null {
  const given = cursorText(query)
  if (given === undefined) return null
  const match = /^(\w+)\.(\d{1,15})$/.exec(Buffer.from(given, 'base64url').toString('latin1'))
  if (match?.[1] !== list) throw new RequestRefused('bad_request', 'Invalid cursor')
  return Number(match[2])
}

/** The cursor of what lies before a row. @param list a word of its own for each list: a cursor fits no other one. */
export function rowCursor(list: string, row: number | null): string | undefined {
  return row === null ? undefined : Buffer.from(`${list}.${row}`).toString('base64url')
}

/** Path of the next page: the same query with another cursor; empty at the end. */
export function nextPath(path: string, query: Query, cursor: string | undefined): string {
  if (cursor === undefined) return ''
  const kept = Object.entries(query).filter(([name]) => name !== 'cursor') as [string, string][]
  return `${path}?${new URLSearchParams([...kept, ['cursor', cursor]])}`
}
