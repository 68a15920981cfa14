import { badRequest } from './api-error.ts'

/** The query of a request, as the server parsed it. */
export type Query = Readonly<Record<string, unknown>>

const DEFAULT_LIMIT = 100
/** Items of a page. */
export const MAX_LIMIT = 500
const MAX_PAGE = 1_000_000_000
/** A longer list says no total. */
const MAX_COUNTED = 10_000

export interface Page<T> {
  readonly items: readonly T[]
  readonly paging: { readonly total: number | null; readonly next: string }
}

/** A member of the query; undefined if it is left out or empty. @throws ApiError 400 if it is there twice */
export function text(query: Query, name: string): string | undefined {
  const value = query[name]
  if (value === undefined || value === '') return undefined
  if (typeof value !== 'string') throw badRequest(`Invalid ${name}`)
  return value
}

/** @throws ApiError 400 for any other value. */
export function choice<T extends string>(query: Query, name: string, allowed: readonly T[]): T | undefined {
  const value = text(query, name)
  if (value === undefined) return undefined
  if (!(allowed as readonly string[]).includes(value)) throw badRequest(`Invalid ${name}`)
  return value as T
}

/** How many items a page has. @throws ApiError 400 */
export function limitOf(query: Query): number {
  return wholeNumber(query, 'limit', DEFAULT_LIMIT, MAX_LIMIT)
}

/**
 * One page of a list in memory.
 *
 * @param path of the list, such as `/v2/sources`; the path of the next page keeps the other members of the query.
 * @throws ApiError 400
 * @see contracts/control-plane.md §4 "list"
 */
export function pageOf<T>(all: readonly T[], path: string, query: Query): Page<T> {
  const limit = limitOf(query)
  const page = wholeNumber(query, 'page', 1, MAX_PAGE)
  const end = page * limit
  const next =
    end < all.length ? `${path}?${new URLSearchParams([['page', `${page + 1}`], ...without(query, 'page')])}` : ''
  return { items: all.slice(end - limit, end), paging: { total: all.length > MAX_COUNTED ? null : all.length, next } }
}

/** The opaque cursor of a list that grows while it is read; such a list has no `page`. @throws ApiError 400 */
export function cursorText(query: Query): string | undefined {
  const { page, cursor } = query
  if (page !== undefined || (cursor !== undefined && typeof cursor !== 'string')) throw badRequest('Invalid cursor')
  return cursor === '' ? undefined : cursor
}

/** Path of the next page of a list with a cursor; empty at the end. */
export function nextPath(path: string, query: Query, cursor: string | undefined): string {
  if (cursor === undefined) return ''
  return `${path}?${new URLSearchParams([...without(query, 'cursor'), ['cursor', cursor]])}`
}

/** Reads a cursor that `rowCursor` made for the same list. @returns null for the first page. @throws ApiError 400 */
export function rowBefore(query: Query, list: string): number | null {
  const given = cursorText(query)
  if (given === undefined) return null
  const match = /^(\w+)\.(\d{1,15})$/.exec(Buffer.from(given, 'base64url').toString('latin1'))
  if (match?.[1] !== list) throw badRequest('Invalid cursor')
  return Number(match[2])
}

/** The cursor of the rows before a row. @param list a word of its own for each list: a cursor fits no other list. */
export function rowCursor(list: string, row: number | null): string | undefined {
  return row === null ? undefined : Buffer.from(`${list}.${row}`).toString('base64url')
}

function without(query: Query, name: string): [string, string][] {
  return Object.entries(query).filter((entry): entry is [string, string] => entry[0] !== name)
}

function wholeNumber(query: Query, name: string, otherwise: number, most: number): number {
  const given = text(query, name)
  if (given === undefined) return otherwise
  const value = /^\d{1,10}$/.test(given) ? Number(given) : 0
  if (value < 1 || value > most) throw badRequest(`Invalid ${name}`)
  return value
}
