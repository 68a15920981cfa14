import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import path from 'node:path'

/** Marks the places of the nonce in the built page. */
const NONCE_PLACE = '__NONCE__'
const TYPES: Readonly<Record<string, string>> = {
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.woff2': 'font/woff2',
}
/** Preferred first. */
const ENCODINGS = [
  ['br', '.br'],
  ['gzip', '.gz'],
] as const

export interface Asset {
  readonly bytes: Buffer
  readonly type: string
  /** Undefined: not compressed. */
  readonly encoding: string | undefined
}

/** A built dashboard: its page, and files whose names change with their content. */
export class DashboardFiles {
  readonly #assets: string
  readonly #names: ReadonlySet<string>
  readonly #page: readonly string[]

  /** @param folder holds `index.html` and `assets`, each text there with `.br` and `.gz` beside it. */
  constructor(folder: string) {
    this.#assets = path.join(folder, 'assets')
    // A request looks up one of these names; it never opens a path.
    this.#names = new Set(existsSync(this.#assets) ? readdirSync(this.#assets) : [])
    this.#page = readFileSync(path.join(folder, 'index.html'), 'utf8').split(NONCE_PLACE)
  }

  page(nonce: string): string {
    return this.#page.join(nonce)
  }

  /** @param accepted the header Accept-Encoding. @returns undefined for an unknown file. */
  async asset(name: string, accepted = ''): Promise<Asset | undefined> {
    const type = TYPES[path.extname(name)]
    if (type === undefined || !this.#names.has(name)) return undefined
    const words = accepted.split(',').map((word) => word.trim())
    const [encoding, suffix] =
      ENCODINGS.find(([word, end]) => words.includes(word) && this.#names.has(name + end)) ?? []
    return { bytes: await readFile(path.join(this.#assets, name + (suffix ?? ''))), type, encoding }
  }
}
