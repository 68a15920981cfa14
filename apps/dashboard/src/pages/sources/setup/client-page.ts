/** The parts of a page in docs/clients that programs read. */
export interface ClientPage {
  /** Its heading: `Node`. */
  readonly title: string
  /** The command that installs the library; undefined if there is none. */
  readonly install: string | undefined
  /** Language of the code: `js`. */
  readonly language: string
  /** A complete program that sends one event to ADDRESS with KEY. */
  readonly code: string
  /** Whether the client supports https only. */
  readonly needsTls: boolean
}

export const ADDRESS = 'http://127.0.0.1:8080'
/** The address form of clients with https only: host and port. */
export const HOST = 'events.example.com'
export const KEY = '<writeKey>'

/** @throws Error for a page without its heading or its first event. */
export function readClientPage(markdown: string): ClientPage {
  const title = /^# (.+)$/m.exec(markdown)?.[1]
  const event = /^```(\w+) first-event\n(.*?)^```$/ms.exec(markdown)
  if (title === undefined || event === null) throw new Error('the page has no heading or no first event')
  const install = /^## Install\n\n```\w+\n(.*?)^```$/ms.exec(markdown)?.[1]?.trimEnd()
  const code = event[2]!.trimEnd()
  return { title, install, language: event[1]!, code, needsTls: code.includes(HOST) }
}

/** Replaces address and key of the page with those of a source. */
export function filledIn(code: string, writeKey: string, url: string): string {
  return code
    .replaceAll(ADDRESS, url)
    .replaceAll(HOST, url.replace(/^https?:\/\//, ''))
    .replaceAll(KEY, writeKey)
}
