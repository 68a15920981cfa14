import path from 'node:path'

/** Texts by their paths from the root. */
export type Tree = ReadonlyMap<string, string>

export const CONTRACTS = 'docs/contracts/'
/** Requirements are numbered there, as `N3`. */
export const DASHBOARD = `${CONTRACTS}dashboard.md`

/** What can be cited. */
export class Library {
  readonly exists: (file: string) => boolean
  readonly #tree: Tree
  readonly #documents = new Map<string, Document>()
  readonly #defined = new Set<string>()
  readonly #names = new Map<string, string[]>()

  /** @param exists whether there is a file or folder, also of another kind than those of the tree. */
  constructor(tree: Tree, exists: (file: string) => boolean) {
    this.exists = exists
    this.#tree = tree
    for (const [file, text] of tree) {
      if (file.endsWith('.md')) {
        this.#documents.set(file, new Document(file, text))
        if (!file.startsWith(CONTRACTS)) continue
        for (const [, number] of text.matchAll(/^\| ([DSUCK]\d+) \|/gm)) this.#defined.add(number!)
      } else {
        for (const [, name] of text.matchAll(/\b(?:class|interface|function|const|type|@interface)\s+(\w+)/g)) {
          this.#names.set(name!, [...(this.#names.get(name!) ?? []), text])
        }
      }
    }
  }

  /** Whether a decision has a row of its own in one of the contracts. */
  defines(number: string): boolean {
    return this.#defined.has(number)
  }

  hasDecision(number: string): boolean {
    return [...this.#documents.keys()].some((file) => file.startsWith(`docs/decisions/${number}-`))
  }

  document(file: string): Document | undefined {
    return this.#documents.get(file)
  }

  /** A document as comments name it: a contract, from the root, beside the file or above it, or by its name alone. */
  find(name: string, from: string): Document | undefined {
    const beside = foldersOf(from).map((folder) => path.join(folder, name))
    const contract = path.join(CONTRACTS, name)
    const places = [...(name === 'README.md' ? [] : [contract, path.join('docs', name)]), ...beside.toReversed(), name]
    const place = places.find((each) => this.#documents.has(each))
    if (place !== undefined) return this.#documents.get(place)
    return [...this.#documents.values()].find(({ file }) => file.endsWith(`/${name}`))
  }

  isSource(name: string, from: string): boolean {
    const places = [name, ...foldersOf(from).map((folder) => path.join(folder, name))]
    return places.some((place) => this.#tree.has(place))
  }

  isName(target: string): boolean {
    const [name, member] = target.split('.') as [string, string | undefined]
    const definitions = this.#names.get(name) ?? []
    return definitions.some((text) => member === undefined || new RegExp(`\\b${member}\\b`).test(text))
  }
}

export class Document {
  readonly file: string
  readonly slugs: ReadonlySet<string>
  readonly #sections = new Map<string, string>()
  readonly #text: string

  constructor(file: string, text: string) {
    this.file = file
    this.#text = text
    const prose = withoutCode(text)
    const headings = [...prose.matchAll(/^(#+) (.*)$/gm)]
    this.slugs = new Set(headings.map(([, , title]) => slug(title!)))
    for (const [at, { index, 1: hashes, 2: title }] of headings.entries()) {
      const number = /^(\d+(?:\.\d+)?)\.? /.exec(title!)?.[1]
      if (number === undefined) continue
      const next = headings.slice(at + 1).find(([, others]) => others!.length <= hashes!.length)
      this.#sections.set(number, text.slice(index, next?.index))
    }
  }

  get isContract(): boolean {
    return this.file.startsWith(CONTRACTS) || this.file.startsWith('sdks/cordova/')
  }

  /** Of `12.31`, either a sub-section or line 31 of section 12. */
  has(section: string): boolean {
    if (this.#sections.has(section)) return true
    const [outer, item] = section.split('.') as [string, string | undefined]
    return item !== undefined && hasNumber(this.#sections.get(outer) ?? '', item)
  }

  /** @returns all of it without a section. */
  textOf(section: string | undefined): string {
    return section === undefined ? this.#text : (this.#sections.get(section) ?? this.#text)
  }
}

/** The same text, code blocks blank. */
export function withoutCode(text: string): string {
  return text.replace(/^( *)```[\s\S]*?^ *```|(?<=\n\n)(?: {4}.*\n)+/gm, (block) => block.replace(/[^\n]/g, ' '))
}

/** A line of a list, a row of a table or a step of a sentence with this number. */
export function hasNumber(text: string, number: string): boolean {
  return new RegExp(String.raw`(?:^|[|:;] )\s*(?:[\d, ]*, )?${number}(?:, [\d, ]*)?(?:\.| \||\s[a-zA-Z\`])`, 'm').test(
    text,
  )
}

function slug(title: string): string {
  return title
    .toLowerCase()
    .replace(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-')
}

/** From the root down to its own. */
function foldersOf(file: string): string[] {
  const parts = file.split('/').slice(0, -1)
  return parts.map((_, at) => parts.slice(0, at + 1).join('/'))
}
