import { existsSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import { programArguments } from '../../apps/dev-env/src/program-arguments.ts'
import type { DestinationCase } from '../../packages/destinations/src/destination-case.ts'
import type { DestinationModule } from '../../packages/destinations/src/index.ts'
import type { JsonObject } from '../../packages/protocol/src/index.ts'
import { configurationOf, type LiveResult, secretVariables, sendCase } from './live-cases.ts'
import { LiveSender } from './live-sender.ts'
import { TYPES_FOLDER } from './new-type.ts'

const VARIABLE = 'DESTINATION_LIVE_CONFIG'
const HELP = `Sends the documented cases of a destination type to a sandbox of its service, with your credentials. The events are
of now, and the service stores them: use an account for tests.

  npm run destination:live -- <name> [--config <file>] [--case <text>] [--origin <url>]

  <name>            name of a folder in ${TYPES_FOLDER}, for example zendesk
  --config <file>   JSON object with the variables that replace those of the cases, credentials among them;
                    default: the environment variable ${VARIABLE}
  --case <text>     only cases with this text in their name
  --origin <url>    send there instead of the address of the service, for example to a mock

Prints a line per case: the request, the status and the answer, without secrets. A case without your credentials is skipped.
Exit codes: 0 all accepted, 1 one refused or none sent, 64 wrong arguments.`

const CHECKOUT = path.resolve(import.meta.dirname, '../..')

const { values, positionals, refuse } = programArguments({
  usage: HELP,
  options: { config: { type: 'string' }, case: { type: 'string' }, origin: { type: 'string' } },
  takesNames: true,
})
try {
  process.exitCode = await run()
} catch (error) {
  console.error(`destination:live: ${(error as Error).message}`)
  process.exitCode = 64
}

async function run(): Promise<number> {
  const [folder, ...more] = positionals
  if (folder === undefined || more.length > 0) return refuse('Give one name, for example zendesk.')
  const { module, cases } = await typeIn(folder)
  const given = givenConfig(module, values.config)
  const origin = values.origin === undefined ? undefined : originOf(values.origin)
  const chosen = cases.filter(({ documented, name }) => documented && name.includes(values.case ?? ''))
  if (chosen.length === 0) throw new Error(`no documented case of ${folder} has ${values.case} in its name`)
  await using sender = new LiveSender(origin)
  const results: LiveResult[] = []
  for (const each of chosen) {
    const result = await sendCase(module, each, given, sender)
    results.push(result)
    console.log(`${result.outcome.padEnd(8)}  ${each.name}: ${result.text}`)
  }
  return summary(results)
}

function summary(results: readonly LiveResult[]): number {
  const count = (wanted: LiveResult['outcome']) => results.filter(({ outcome }) => outcome === wanted).length
  console.log(`${count('accepted')} accepted, ${count('refused')} refused, ${count('skipped')} skipped`)
  return count('refused') > 0 || count('accepted') === 0 ? 1 : 0
}

async function typeIn(folder: string): Promise<{ module: DestinationModule; cases: readonly DestinationCase[] }> {
  const types = path.join(CHECKOUT, TYPES_FOLDER)
  const isName = /^[a-z0-9-]+$/.test(folder)
  if (!isName || !existsSync(path.join(types, folder, `${folder}.cases.ts`))) {
    throw new Error(`there is no destination type in ${TYPES_FOLDER}/${folder}: check the name`)
  }
  const load = (file: string) => import(pathToFileURL(path.join(types, folder, file)).href)
  const { destination } = (await load(`${folder}.ts`)) as { destination: DestinationModule }
  const { cases } = (await load(`${folder}.cases.ts`)) as { cases: DestinationCase[] }
  return { module: destination, cases }
}

function givenConfig(module: DestinationModule, file: string | undefined): JsonObject {
  const text = file === undefined ? process.env[VARIABLE] : readFileSync(file, 'utf8')
  if (text === undefined || text === '') {
    const needed = secretVariables(module).join(', ') || 'the variables of the type'
    throw new Error(`no credentials: give ${needed} with --config <file>, or as JSON in ${VARIABLE}`)
  }
  return configurationOf(text, file ?? VARIABLE)
}

function originOf(text: string): string {
  const url = URL.parse(text)
  if (url === null || !['http:', 'https:'].includes(url.protocol)) {
    throw new Error(`${text} is no address: use one such as http://127.0.0.1:8080`)
  }
  return url.href
}
