import { hash } from 'node:crypto'
import { readdirSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import path from 'node:path'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'

const PACKAGE = '@segment/analytics-next'
/**
 * The vendor's addresses in the published bundle, used if a page gives no address or key, each with its number of
 * occurrences. A different number means a different version of the package, which a developer must check.
 */
const OWN_PLACES = [
  ['"https://cdn.segment.com', 'millraceAddress+"', 3],
  ['"api.segment.io/v1"', 'millraceAddress.replace(/^https?:[/][/]/,"")+"/v1"', 1],
  ['"__WRITE_KEY__"', 'millraceKey', 1],
] as const

/** A script that browsers load. */
export interface Script {
  readonly bytes: Buffer
  readonly gzipped: Buffer
  /** Strong. */
  readonly etag: string
}

/**
 * The published web library, read on first use: the script that a page loads, and the parts that the script loads
 * later. Addresses of the vendor's servers are replaced with the server that the script was loaded from; nothing else
 * changes.
 */
export class WebLibrary {
  readonly #folder: string
  readonly #scripts = new Map<string, Promise<Script>>()
  readonly #parts: ReadonlySet<string>

  constructor() {
    // The package does not export the path, so it is derived from its entry in dist/cjs.
    this.#folder = path.join(path.dirname(createRequire(import.meta.url).resolve(PACKAGE)), '../umd')
    this.#parts = new Set(readdirSync(this.#folder).filter((name) => name.includes('.bundle.') && name.endsWith('.js')))
  }

  /** The script of a page's snippet. The same for every page: it reads address and key from its own URL. */
  main(): Promise<Script> {
    return this.#script('standalone.js', onOwnServer)
  }

  /** @returns undefined for an unknown part. */
  part(name: string): Promise<Script> | undefined {
    return this.#parts.has(name) ? this.#script(name, (text) => text) : undefined
  }

  #script(name: string, change: (text: string) => string): Promise<Script> {
    let script = this.#scripts.get(name)
    if (script === undefined) {
      script = read(path.join(this.#folder, name), change)
      this.#scripts.set(name, script)
      // A file that cannot be read now may be readable for the next page.
      script.catch(() => this.#scripts.delete(name))
    }
    return script
  }
}

async function read(file: string, change: (text: string) => string): Promise<Script> {
  const published = await readFile(file, 'utf8')
  const bytes = Buffer.from(change(published.replace(/\n\/\/# sourceMappingURL=.*\s*$/, '\n')))
  return { bytes, gzipped: await promisify(gzip)(bytes), etag: `"${hash('sha256', bytes, 'base64url')}"` }
}

function onOwnServer(published: string): string {
  let text = published
  for (const [theirs, ours, places] of OWN_PLACES) {
    const parts = text.split(theirs)
    if (parts.length - 1 !== places)
      throw new Error(`${PACKAGE} names ${theirs} in ${parts.length - 1} places, not ${places}`)
    text = parts.join(ours)
  }
  return `${PROLOGUE}\n${text}})(document.currentScript);\n`
}

/** It ends inside a function: the published text continues it. */
const PROLOGUE = `/* ${PACKAGE}: MIT licence, Copyright (c) 2021 Segment. Served by Millrace, and set to its server. */
(function (script) {
  var parts = /^(.*)\\/analytics\\.js\\/v1\\/([^/?]+)\\//.exec((script && script.src) || '') || [];
  var millraceAddress = parts[1] || location.origin;
  var millraceKey = parts[2] ? decodeURIComponent(parts[2]) : '__' + 'WRITE_KEY__';
  var page = (window.analytics = window.analytics || []);
  page._cdn = page._cdn || millraceAddress;`
