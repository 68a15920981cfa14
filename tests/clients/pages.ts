import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { type ClientPage, readClientPage } from '@millrace/dashboard/client-page'
import { CLIENTS } from './clients.ts'
import { WEB_CLIENTS } from './web-clients.ts'

export const PAGES_FOLDER = path.join(import.meta.dirname, '../../docs/clients')

export async function pageOf(name: string): Promise<ClientPage> {
  return readClientPage(await readFile(path.join(PAGES_FOLDER, name), 'utf8'))
}

const INTRODUCTION = `# Clients

These published client libraries work with Millrace through their public settings. The tests in \`tests/clients\` run each of them, in the version named
here, against the whole product, and compare each sent event with the delivered one, member by member. They also generate this table. Each page
shows how to install the library, send a first event, and configure it, and lists its limits.
`
const REST = `
Our tests do not run the libraries of [Swift](swift.md), [.NET](dotnet.md), [Ruby](ruby.md), [PHP](php.md) and [Flutter](flutter.md), because the
test machines cannot reach their registries. \`tests/clients/documented-clients.test.ts\` sends the requests that their public documentation
describes through the whole product.

Without a library: [HTTP](http.md), [Pixel](pixel.md), [Webhook](webhook.md). Our own: [Cordova and Capacitor](cordova.md).
`

/** The text of docs/clients/README.md. */
export function clientTable(): string {
  const rows = [...CLIENTS, ...WEB_CLIENTS].map((client) => {
    const { name, version, page, lacks = [], givesUpOn = [] } = client
    const kinds = lacks.length === 0 ? 'every kind of event' : `every kind of event but ${lacks.join(' and ')}`
    const gzip = 'gzip' in client && client.gzip ? ', compressed' : ''
    const repeats = ([503, 429] as const).filter((status) => !givesUpOn.includes(status))
    const again = repeats.length === 0 ? 'does not send again' : `sends again after ${repeats.join(' and ')}`
    const order = overtakes(client) ? 'an event may overtake another' : 'in order'
    return `| [${name}](${page}) | ${version} | ${kinds}${gzip}; ${again}; 1,000 events without loss, ${order} | 0.1.0 |`
  })
  return `${INTRODUCTION}\n| Client | Version | What works | Since |\n|---|---|---|---|\n${rows.join('\n')}\n${REST}`
}

function overtakes(client: object): boolean {
  return 'overtakes' in client && client.overtakes === true
}
