/*
 * Output differs from run to run in ids, times, ports and the like. In the docs each of them is shown as a fixed one of the
 * same length, so that columns stay as they are; commands that name such an id are translated back before they run.
 */

const IDS = [
  '3iidO0kXIpgrmam9JhPLS2gpoVe',
  '3uLMicKvWtFGwbwBkUIwtP0l8lu',
  '3EXM1nH9JtMJ06hF5WfzRPot1LW',
  '3HKbh3KJUutcOg0TP3JBduW9TBn',
  '3UoQ1nyNXgIHyFn0C8GFOWmmxU0',
  '3Uu7afqT7PwuTNOQMc18wsjmObJ',
  '3nYVQeCTUeuJkM9lAjxVjmbtYyv',
  '37A4poI9SaefdDdDQ6BJiCpwwUV',
  '3n9E4mna2lWc5fR4EEcDQAiFmog',
  '3BVLaUj9fmVMZzVa62w8CIJjwOt',
  '3dRIkg3yt5dHQvrpFIWbdCOITv7',
  '3OcjFpHW1yxUNp7EHCeq1H0gpPz',
]
const MESSAGE_IDS = [
  '8ed31aa9-450f-4a72-87aa-05033556fa4d',
  '7164095d-6742-468c-bd2e-bcb236116650',
  'e5245eca-b5ef-4104-a5f3-87ae985a0278',
  'e1b27573-4cfe-46d6-831b-5f718d3c8d94',
  '87295528-1a53-4a1e-beea-6c8efcc64b7d',
  '541091d8-38ed-440a-89e6-f80af9b5f4bc',
  'fce79957-f988-4996-bfba-94d8b0e90f8d',
  '0b9d3c1e-6f4a-4d57-9c2b-7e8f1a2b3c4d',
]
const TOKENS = [
  'mr_pat_4tQx9ZbW2mLr7VnC0pKd8sFy1aGh3uEjTiRwB6oM',
  'mr_pat_Zk3vN8qT1yWc5RbE7uJd0LfS2gHx6mPa9oVi4XeB',
  'mr_pat_9Kd2LmXw7QeRt5YuI3oPa8SdFg1HjZcVbN4MqW6E',
]
const PASSWORD = 'mZ2vX9wQ4tB7nK1cR8sD5fG0hJ3lP6yA'
const WRITE_KEY = '3PS3MKgFh6ZTxDaxUjKBsLaUg1r'
const INBOX_KEY = '5f0c9d2e7a4b4c1d8e3f6a9b0c7d2e15'
const TODAY = '2026-03-04'
const TIME_OF_DAY = '09:15:31.900'
const DAY_MS = 86_400_000

export interface ServerUnderTest {
  readonly url: string
  readonly folder: string
  /** When the server was started, milliseconds since 1970. */
  readonly startedAt: number
  /** Each is shown as the same one. Nothing in their form tells them from ids. */
  readonly writeKeys: readonly string[]
}

/** Turns what was printed into what is shown, and what is shown into what to type. */
export class ShownOutput {
  readonly #server: ServerUnderTest
  readonly #shown = new Map<string, string>()

  constructor(server: ServerUnderTest) {
    this.#server = server
  }

  /** @throws Error when there are more different ids than names for them. */
  show(printed: string): string {
    const { url, folder, writeKeys } = this.#server
    return (
      printed
        .replaceAll(url, 'http://127.0.0.1:8080')
        .replaceAll(new URL(url).host, '127.0.0.1:8080')
        .replaceAll(`${folder}/`, '')
        // A server with these two needs neither.
        .replace('MILLRACE_DATA_DIR=data npm', 'npm')
        .replace('trace hello-1 --url http://127.0.0.1:8080', 'trace hello-1')
        .replace(/mr_pat_\w{40}/g, (token) => this.#name(token, TOKENS))
        .replace(/\b\w{27}\b/g, (word) => (writeKeys.includes(word) ? WRITE_KEY : word))
        .replace(/(schema API: user: admin password: )\S{32}/, `$1${PASSWORD}`)
        .replace(/\b[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/g, (id) => this.#name(id, MESSAGE_IDS))
        .replace(/\b3[0-9A-Za-z]{26}\b/g, (id) => (id === WRITE_KEY ? id : this.#name(id, IDS)))
        .replace(/\b(\d{4}-\d\d-\d\d)([ T])(\d\d:\d\d(?::\d\d(?:\.\d{3})?)?)/g, (_, date, joint, time) =>
          this.#time(date, joint, time),
        )
        .replace(/\/inbox\/[0-9a-f]{32}/g, `/inbox/${INBOX_KEY}`)
        .replace(/^\*( +MILLRACE_PORT +)\d{5}/m, ' $18080 ')
        .replace(/backup-\d{8}T\d{6}Z/g, 'backup-20260304T091530Z')
        .replace(/, \d+ KB, /g, ', 300 KB, ')
        // More than two blanks behind it fill a column.
        .replace(/\b(\d+) ms( {3,})?/g, (_, digits, pad = '') => `2 ms${pad && pad + ' '.repeat(digits.length - 1)}`)
        .replace(/"durationMs": \d+/g, '"durationMs": 2')
        .replace(/^(ok +node +)\S+/m, '$126.10.0')
        .replace(/^(ok +settings +)given: .*/m, '$1all defaults')
        .replace(/[\d.]+ [KMGT]B free/, '74.1 GB free')
        .replace(/(segments?, )[\d.]+ [KMG]B/, '$1128 KB')
        .replace(/\d+ % busy/g, '2 % busy')
    )
  }

  type(shown: string): string {
    let typed = shown
    for (const [actual, name] of this.#shown) typed = typed.replaceAll(name, actual)
    return typed
  }

  #name(actual: string, names: readonly string[]): string {
    const known = this.#shown.get(actual)
    if (known !== undefined) return known
    // An example in a help.
    if (names.includes(actual)) return actual
    const used = new Set(this.#shown.values())
    const name = names.find((each) => !used.has(each))
    if (name === undefined) throw new Error(`there is no name left for ${actual}: add one`)
    this.#shown.set(actual, name)
    return name
  }

  /** The day counted from that of the start; the time of day is always the same. */
  #time(date: string, joint: string, time: string): string {
    const at = Date.parse(`${date}T${time.length === 5 ? `${time}:00` : time}Z`)
    const days = Math.round((at - this.#server.startedAt) / DAY_MS)
    const day = new Date(Date.parse(TODAY) + days * DAY_MS).toISOString().slice(0, 10)
    return `${day}${joint}${TIME_OF_DAY.slice(0, time.length)}`
  }
}
