import type { Sandboxes } from '../host/sandboxes.ts'
import { essences, events, open, runOf, version } from '../under-test.ts'
import type { Attack } from './attacks.ts'

const bystander = version('export const transformEvent = (event) => event')
const quiet = JSON.stringify([[events({ attack: false })[0]!.event]])
const ourFolder = import.meta.dirname.slice(0, import.meta.dirname.indexOf('/packages/'))

/** Where all attacks of a file run: in one set of processes, as in the product. */
export function openForAttacks(syncMs: number): Sandboxes {
  return open({ limits: { syncMs, memoryMb: 64 } })
}

/**
 * Tries one attack, then the next event of the same code, then another destination.
 *
 * @returns what of contracts/transformations.md §8 did not hold.
 */
export async function attempt(transformations: Sandboxes, attack: Attack): Promise<string[]> {
  const { name, body, before = '', end } = attack
  const step = version(`${before}
export async function transformEvent(event, metadata) {
  if (!event.properties.attack) return event
  ${body}
}`)
  const run = (isAttack: boolean, mode: 'live' | 'test') =>
    transformations.run(runOf([step], { key: name, mode, captureLogs: true, events: events({ attack: isAttack }) }))

  const result = await run(true, 'live')
  const { results } = result
  const shown = JSON.stringify(result)
  const [outcome] = essences(result)
  const isStopped =
    typeof outcome === 'string' &&
    /^(Timed out|Memory limit exceeded|Sandbox lost|(Range|Type|Syntax)Error)/.test(outcome)
  const next = JSON.stringify(essences(await run(false, 'test')))
  const others = runOf([bystander], { key: 'bystander', events: events({ attack: false }) })
  const other = JSON.stringify(essences(await transformations.run(others)))

  const complaints: string[] = []
  if (/escaped"|code from text/.test(shown)) complaints.push(`it got out: ${shown}`)
  if (shown.includes(ourFolder) || /node:internal|node_modules/.test(shown)) complaints.push(`it saw us: ${shown}`)
  if (end === 'inside' && result.trouble !== undefined) complaints.push(`it cost the sandbox: ${shown}`)
  if (end === 'stopped' && !isStopped) complaints.push(`it was not stopped: ${shown}`)
  if (next !== quiet) complaints.push(`the next event was ${next}`)
  if (other !== quiet) complaints.push(`the event of another destination was ${other}`)
  if (results.some((each) => 'error' in each && typeof each.error !== 'string')) complaints.push(`no text: ${shown}`)
  complaints.push(...changedPrototypes().map((name) => `${name} of the server was changed`))
  return complaints
}

const PROTOTYPES = { Object, Array, String, Promise, Map }
const membersBefore = Object.entries(PROTOTYPES).map(
  ([name, { prototype }]) => [name, prototype, membersOf(prototype)] as const,
)

function changedPrototypes(): string[] {
  return membersBefore.flatMap(([name, prototype, before]) => (membersOf(prototype) === before ? [] : [name]))
}

function membersOf(prototype: object): string {
  return JSON.stringify([Reflect.ownKeys(prototype).map(String), Array.isArray(prototype) ? prototype.length : 0])
}
