import path from 'node:path'
import { CONTRACTS, DASHBOARD, type Document, hasNumber, Library, type Tree, withoutCode } from './cited-documents.ts'

/*
 * What comments and documents refer to. The forms are those of docs/contracts/README.md:
 *
 *   contracts/delivery.md §4 [D608]      contracts/cordova-sdk.md §14.4      contracts/ingest.md §12 item 31
 *   contracts/dashboard.md §4 N3         decision 0015                       BRIDGE.md "tail"
 *   @see EventLog.scan                   RFC 9110 §7.6, @see resolv.conf(5)     [a link](of-markdown#heading)
 *
 * A `§` belongs to the document named before it in the same comment or paragraph; in a contract it is the contract's own unless
 * another one stands right before it.
 */

/** They explain the ranges of numbers. */
const ABOUT_NUMBERS = [`${CONTRACTS}decisions.md`, `${CONTRACTS}README.md`]

/**
 * Every citation that leads nowhere, as `file:line: what is wrong`.
 *
 * @param exists whether there is a file or folder, also of a kind that the tree leaves out.
 */
export function deadCitations(tree: Tree, exists: (file: string) => boolean): string[] {
  const library = new Library(tree, exists)
  const offences = [...tree].flatMap(([file, text]) =>
    passagesOf(file, text).flatMap(({ at, prose }) =>
      [...deadIn(prose, file, library)].map(({ index, problem }) => {
        const line = at + prose.slice(0, index).split('\n').length - 1
        return `${file}:${line}: ${problem}`
      }),
    ),
  )
  return [...new Set(offences)]
}

/** Every decision, section and line of a checklist that has two definitions. */
export function definedTwice(tree: Tree): string[] {
  const contracts = [...tree].filter(([file]) => file.startsWith(CONTRACTS))
  const places = contracts.flatMap(([file, text]) => {
    let section = ''
    return withoutCode(text)
      .split('\n')
      .flatMap((line, index): [string, string][] => {
        const place = `${file}:${index + 1}`
        const heading = /^##+ (\d+(?:\.\d+)?)\.? /.exec(line)
        if (heading !== null) section = `${file} §${heading[1]}`
        const decision = /^\| ([DSUCK]\d+) \|/.exec(line)?.[1]
        const item = /^(\d+)\. /.exec(line)?.[1]
        return [
          ...(heading === null ? [] : [[section, place] as [string, string]]),
          ...(decision === undefined ? [] : [[decision, place] as [string, string]]),
          ...(item === undefined ? [] : [[`${section} item ${item}`, place] as [string, string]]),
        ]
      })
  })
  const byNumber = Map.groupBy(places, ([number]) => number)
  return [...byNumber]
    .filter(([, defined]) => defined.length > 1)
    .map(([number, defined]) => `${number} is defined twice: ${defined.map(([, place]) => place).join(', ')}`)
}

interface Problem {
  readonly index: number
  readonly problem: string
}

/** What may stand between two parts of one run of citations. */
const CITING = /^(?:[\s*/,;:&]|\band\b|\bto\b|\brows?\b|\([^()]*\)|\[[^\]]*\])*$/
const NUMBERS = String.raw`\d+(?:(?:\s*,\s*|\s+and\s+|[–-]|\s+to\s+)\d+)*`
const TOKEN = new RegExp(
  [
    String.raw`(?<file>(?:[\w.-]+/)*[\w-]+\.md)\b`,
    String.raw`\b(?<standard>RFC \d+)`,
    String.raw`§(?<section>\d+(?:\.\d+)?)(?:\s*[–-]\s*§?(?<last>\d+(?:\.\d+)?))?`,
    String.raw`\b(?:items?|lines?|steps?)\s[\s*/]*(?<items>${NUMBERS})`,
    String.raw`(?<=[\s*(])"(?<phrase>[^"\n]+)"(?=[\s,;.)*]|$)`,
    String.raw`\b(?<need>N\d+)\b`,
  ].join('|'),
  'g',
)

const LINK = /\[([^\]]*)\]\(([^)\s]+)\)/g

function* deadIn(prose: string, file: string, library: Library): Generator<Problem> {
  yield* deadRuns(prose, file, library)
  yield* deadNumbers(prose, file, library)
  for (const { index, 1: number } of prose.matchAll(/\bdecisions?[ /](\d{4})\b/g)) {
    if (!library.hasDecision(number!)) yield { index, problem: `there is no decision ${number}` }
  }
  if (file.endsWith('.md')) yield* deadLinks(prose, file, library)
  else yield* deadSymbols(prose, file, library)
}

/** Files with the sections, lines and phrases named behind them. */
function* deadRuns(prose: string, file: string, library: Library): Generator<Problem> {
  const isContract = file.startsWith(CONTRACTS)
  let document: Document | undefined
  let section: string | undefined
  let isStandard = false
  let end = 0
  // What a link says is looked up where it leads.
  const unlinked = prose.replace(LINK, (link) => link.replace(/\S/g, '-'))
  for (const { index, 0: token, groups = {} } of unlinked.matchAll(TOKEN)) {
    const gap = unlinked.slice(end, index)
    const goesOn = CITING.test(gap)
    end = index + token.length
    if (!goesOn) section = undefined
    if (isContract ? !goesOn : /\n\s*\n/.test(gap)) {
      document = undefined
      isStandard = false
    }
    if (groups['standard'] !== undefined) {
      document = section = undefined
      isStandard = true
    } else if (groups['file'] !== undefined) {
      section = undefined
      isStandard = false
      const found = library.find(groups['file'], file)
      if (found === undefined) yield { index, problem: `there is no ${groups['file']}` }
      document = found
    } else if (groups['section'] !== undefined) {
      if (isStandard) continue
      document ??= isContract ? library.document(file) : undefined
      section = groups['section']
      if (document === undefined) {
        if (!isContract)
          yield { index, problem: `§${section} names no contract: write contracts/<name>.md §${section}` }
        continue
      }
      for (const each of [section, groups['last']]) {
        if (each === undefined || document.has(each)) continue
        yield { index, problem: `${document.file} has no §${each}` }
      }
    } else if (goesOn && document?.isContract) {
      const where = section === undefined ? document.file : `${document.file} §${section}`
      const text = document.textOf(section)
      const { items, need, phrase } = groups
      for (const item of items === undefined ? [] : items.match(/\d+/g)!) {
        if (!hasNumber(text, item)) yield { index, problem: `${where} has no line ${item}` }
      }
      const isKnown = need === undefined || document.file !== DASHBOARD || text.includes(need)
      if (!isKnown) yield { index, problem: `${where} has no ${need}` }
      if (phrase !== undefined && !plain(text).includes(plain(phrase))) {
        yield { index, problem: `${where} does not say "${phrase}"` }
      }
    }
  }
}

/** Decisions: each is defined, and stands in square brackets. */
function* deadNumbers(prose: string, file: string, library: Library): Generator<Problem> {
  const bracketed = /\[(?:given, ?)?([DSUCK]\d+(?:(?:, ?|–|-)[DSUCK]?\d+)*)\]/g
  for (const { index, 1: list } of prose.matchAll(bracketed)) {
    for (const [number] of list!.matchAll(/[DSUCK]\d+/g)) {
      if (!library.defines(number)) yield { index, problem: `${number} is defined in no contract` }
    }
  }
  if (ABOUT_NUMBERS.includes(file)) return
  for (const { index, 0: number } of prose.replace(bracketed, (all) => ' '.repeat(all.length)).matchAll(/\bD\d+\b/g)) {
    yield { index, problem: `write [${number}]: a decision stands in square brackets` }
  }
}

function* deadLinks(prose: string, file: string, library: Library): Generator<Problem> {
  for (const { index, 1: text = '', 2: target = '' } of prose.matchAll(LINK)) {
    if (/^[a-z]+:/.test(target)) continue
    const [name, heading] = target.split('#') as [string, string | undefined]
    const linked = name === '' ? file : path.join(path.dirname(file), decodeURIComponent(name))
    if (!library.exists(linked)) yield { index, problem: `links to ${target}, which is not there` }
    else if (heading !== undefined && library.document(linked)?.slugs.has(heading) === false) {
      yield { index, problem: `${linked} has no heading #${heading}` }
    }
    for (const [, section] of text.matchAll(/§(\d+(?:\.\d+)?)/g)) {
      if (library.document(linked)?.has(section!) === false) yield { index, problem: `${linked} has no §${section}` }
    }
  }
}

/** `@see` of something that is no document: a file of the code, or a name in it with or without a member. */
function* deadSymbols(prose: string, file: string, library: Library): Generator<Problem> {
  for (const { index, 1: named } of prose.matchAll(/@see\s+"?([^\s";,)*]+)/g)) {
    const target = named!.replace(/\.$/, '')
    // Another site, or a page of the system's manual.
    if (/^https?:|\w\(\d$/.test(target)) continue
    if (/\.md$|^decisions?$/.test(target) || library.isSource(target, file) || library.isName(target)) continue
    if (target.startsWith('docs/decisions/') && library.hasDecision(path.basename(target))) continue
    yield { index, problem: `@see ${target}: there is nothing of that name` }
  }
}

/** What people read of a file: all of a document, the comments of code. `at` is the line it begins at, from 1. */
function passagesOf(file: string, text: string): { at: number; prose: string }[] {
  if (file.endsWith('.md')) return [{ at: 1, prose: withoutCode(text) }]
  const comments = text.matchAll(/(?<![^\s{(])\/\*(?=[\s*])[\s\S]*?\*\/|(?:(?<=^|\s)\/\/ .*\n?[ \t]*)+/g)
  return [...comments].map(({ index, 0: comment }) => ({
    at: text.slice(0, index).split('\n').length,
    prose: comment.replace(/^([ \t]*)\/\//gm, '$1  '),
  }))
}

function plain(text: string): string {
  return text.replace(/[`*]/g, '').toLowerCase()
}
