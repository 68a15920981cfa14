/** A page of docs/clients, as far as programs read it. */
export interface ClientPage {
  /** Its heading: `Node`. */
  readonly title: string
  /** What gets the library; undefined where there is none. */
  readonly install: string | undefined
  /** Of the code: `js`. */
  readonly language: string
  /** A whole program that sends one event to ADDRESS with KEY. */
  readonly code: string
  /** The client has no setting for plain http. */
  readonly needsTls: boolean
}

export const ADDRESS = 'http://127.0.0.1:8080'
/** As clients have it that speak https alone: host and port. */
export const HOST = 'events.example.com'
export const KEY = '<writeKey>'

/** @throws Error for a page that lacks its heading or its first event. */
export function readClientPage(markdown: string): ClientPage {
  const title = /^# (.+)$/m.exec(markdown)?.[1]
  const event = /^```(\w+) first-event\n(.*?)^```$/ms.exec(markdown)
  if (title === undefined || event === null) throw new Error('the page has no heading or no first event')
  const install = /^## Install\n\n```\w+\n(.*?)^```$/ms.exec(markdown)?.[1]?.trimEnd()
  const code = event[2]!.trimEnd()
  return { title, install, language: event[1]!, code, needsTls: code.includes(HOST) }
}

/** Ready to run: with the address and the key of a source in the place of those of the page. */
export function filledIn(code: string, writeKey: string, url: string): string {
  return code
    .replaceAll(ADDRESS, url)
    .replaceAll(HOST, url.replace(/^https?:\/\//, ''))
    .replaceAll(KEY, writeKey)
}
