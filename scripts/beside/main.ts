import { programArguments } from '../../apps/dev-env/src/program-arguments.ts'
import { median } from '../../bench/statistics.ts'
import { Collector } from './collector.ts'
import { FAULTS, type Outcome, suffer } from './faults.ts'
import { type Bundle, bundlePeers, PEERS } from './peers.ts'
import { type StartCost, startCost } from './start-cost.ts'

/* @see decision 0057 */

const { values, positionals, refuse } = programArguments({
  usage: `Measures our SDK and public web SDKs in the same way. Its tables stand in docs/cordova-sdk-beside-others.md.

  npm run sdk:beside [-- <name> … --json --no-faults]

  <name> …     ${PEERS.map(({ name }) => name).join(', ')}; default: all of them
  --json       prints every sample as JSON, instead of tables
  --no-faults  measures size, start and calls only`,
  takesNames: true,
  options: { json: { type: 'boolean' }, 'no-faults': { type: 'boolean' } },
})
const unknown = positionals.find((each) => !PEERS.some(({ name }) => name === each))
if (unknown !== undefined) refuse(`There is no SDK ${unknown}.`)

await using collector = await Collector.open()
const results: { bundle: Bundle; cost: StartCost; outcomes: readonly Outcome[] }[] = []
for (const bundle of await bundlePeers(positionals)) {
  console.error(`${bundle.peer.name} …`)
  const cost = await startCost(bundle, collector)
  // One fault after another; the waits for what comes of them are at the same time.
  const waits: (() => Promise<Outcome>)[] = []
  for (const fault of values['no-faults'] ? [] : FAULTS) waits.push(await suffer(fault, bundle))
  results.push({ bundle, cost, outcomes: await Promise.all(waits.map((wait) => wait())) })
}

if (values.json) {
  const lines = results.map(({ bundle: { peer, gzipBytes }, cost, outcomes }) => {
    const faults = outcomes.map((outcome, at) => ({ fault: FAULTS[at]!.name, ...outcome }))
    return { name: peer.name, version: peer.version, gzipBytes, ...cost, faults }
  })
  console.log(JSON.stringify(lines, undefined, 2))
} else {
  console.log(costTable())
  if (!values['no-faults']) console.log(`\n${faultTable()}`)
}

function costTable(): string {
  const rows = results.map(({ bundle, cost }) => [
    named(bundle),
    `${(bundle.gzipBytes / 1_024).toFixed(1)} KB`,
    `${median(cost.startMs).toFixed(1)} ms`,
    `${median(cost.trackMs).toFixed(3)} ms`,
  ])
  return table([['', 'size, gzip', 'start', 'track'], ...rows])
}

function faultTable(): string {
  const rows = FAULTS.map(({ name }, at) => [name, ...results.map(({ outcomes }) => told(outcomes[at]!))])
  return table([['lost of 50', ...results.map(({ bundle }) => bundle.peer.name)], ...rows])
}

function told({ lost, repeated }: Outcome): string {
  return repeated === 0 ? String(lost) : `${lost} (${repeated} repeats)`
}

function named({ peer }: Bundle): string {
  return peer.version === undefined ? peer.name : `${peer.name} ${peer.version}`
}

function table([head, ...rows]: string[][]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`
  return [line(head!), line(head!.map(() => '---')), ...rows.map(line)].join('\n')
}
