import { readFileSync, statSync } from 'node:fs'
import { isIP } from 'node:net'
import { hostname } from 'node:os'
import type { Clock } from '@millrace/std'

/** Where the operating system says which names it knows, and how it completes them. */
export interface ResolverFiles {
  readonly hosts: string
  readonly resolvConf: string
}

export const SYSTEM_FILES: ResolverFiles = {
  hosts: process.platform === 'win32' ? 'C:\\Windows\\System32\\drivers\\etc\\hosts' : '/etc/hosts',
  resolvConf: '/etc/resolv.conf',
}

const CHECKED_EVERY_MS = 1_000

/** The hosts file, read again when it has changed; that is looked at once a second. */
export class HostsFile {
  readonly #path: string
  readonly #clock: Clock
  #names = new Map<string, string[]>()
  #version = ''
  #checkedAt = Number.NEGATIVE_INFINITY

  constructor(file: string, clock: Clock) {
    this.#path = file
    this.#clock = clock
  }

  /** @param name in lower case, without a dot at its end. @returns its addresses in the order of the file. */
  find(name: string): readonly string[] | undefined {
    const now = this.#clock.monotonic()
    if (now - this.#checkedAt >= CHECKED_EVERY_MS) {
      this.#checkedAt = now
      const version = versionOf(this.#path)
      if (version !== this.#version) {
        this.#version = version
        this.#names = parseHosts(textOf(this.#path))
      }
    }
    return this.#names.get(name)
  }
}

function parseHosts(text: string): Map<string, string[]> {
  const names = new Map<string, string[]>()
  for (const [address = '', ...given] of linesOf(text)) {
    if (isIP(address) === 0 || address.includes('%')) continue
    for (const name of given.map((each) => each.toLowerCase())) {
      const known = names.get(name)
      if (known === undefined) names.set(name, [address])
      else if (!known.includes(address)) known.push(address)
    }
  }
  return names
}

/** How short names are completed. */
export interface Completion {
  readonly search: readonly string[]
  /** A name with fewer dots is completed before it is tried as it is. */
  readonly ndots: number
}

const MAX_SEARCH = 6
/** As glibc bounds it. */
const MAX_NDOTS = 15

/** As resolv.conf(5) says: of `domain` and `search` the last one counts; without either, the domain of this machine. */
export function readCompletion(file: string): Completion {
  let search: readonly string[] | undefined
  let ndots = 1
  for (const [keyword, ...values] of linesOf(textOf(file))) {
    if (keyword === 'search') search = values
    if (keyword === 'domain') search = values.slice(0, 1)
    if (keyword !== 'options') continue
    const given = values.findLast((value) => /^ndots:\d+$/.test(value))
    if (given !== undefined) ndots = Math.min(MAX_NDOTS, Number(given.slice('ndots:'.length)))
  }
  search ??= [hostname().replace(/^[^.]*\.?/, '')]
  const domains = search.map((domain) => domain.replace(/\.+$/, ''))
  return { search: domains.filter((domain) => domain !== '').slice(0, MAX_SEARCH), ndots }
}

const MAX_NAME_LENGTH = 253

/** The names to ask for, in order, until one is found. */
export function completed(name: string, { search, ndots }: Completion): string[] {
  if (name.endsWith('.')) return [name]
  const longer = search.map((domain) => `${name}.${domain}`).filter((each) => each.length <= MAX_NAME_LENGTH)
  const dots = name.split('.').length - 1
  return dots >= ndots ? [name, ...longer] : [...longer, name]
}

/** The words of each line that says something. */
function linesOf(text: string): string[][] {
  return text
    .split('\n')
    .map((line) =>
      line
        .replace(/[#;].*$/, '')
        .split(/\s+/)
        .filter((word) => word !== ''),
    )
    .filter((words) => words.length > 0)
}

/** Differs once the file has changed. */
function versionOf(file: string): string {
  try {
    const { ino, size, mtimeMs } = statSync(file)
    return `${ino} ${size} ${mtimeMs}`
  } catch {
    return ''
  }
}

function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    // Without the file there are no such names.
    return ''
  }
}
