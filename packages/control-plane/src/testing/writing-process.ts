import { writeSync } from 'node:fs'
import { ManualClock } from '@millrace/std'
import { ControlPlane } from '../control-plane.ts'
import { MILLRACE } from '../people/author.ts'
import { sqliteControlStore } from '../store/sqlite-control-store.ts'
import { moduleRuntime } from './module-runtime.ts'
import { testDestinationTypes } from './webhook-types.ts'

/*
 * Writes sources, destinations and connections into the database given as first argument until it is killed, and prints
 * each when it is answered: `<kind> <id> <name>`.
 */
const plane = await ControlPlane.open({
  store: sqliteControlStore(process.argv[2]!),
  partitions: 1,
  secretKey: Buffer.alloc(32, 1),
  clock: new ManualClock(1_772_000_000_000),
  random: (count) => crypto.getRandomValues(new Uint8Array(count)),
  version: '1.0.0',
  destinationTypes: testDestinationTypes,
  code: moduleRuntime,
  codeTemplates: [],
  maskingOf: () => ({ text: (text) => text, value: (value) => value }),
  logger: { info: () => {}, warn: () => {}, error: () => {} },
  apiRequestsPerMinute: 0,
  serverName: '8080',
  trustedProxies: [],
})

const round = process.argv[3]
for (let n = 0; ; n++) {
  const name = `round ${round} number ${n}`
  const source = (await plane.sources.create(MILLRACE, { name, type: 'HTTP' })).resource
  tell('source', source.id, name)
  const config = { webhookUrl: 'https://hooks.cinema.example/in', signingSecret: name }
  const destination = (await plane.destinations.create(MILLRACE, { name, type: 'WEBHOOK', config })).resource
  tell('destination', destination.id, name)
  const { id } = (await plane.connections.create(MILLRACE, { sourceId: source.id, destinationId: destination.id }))
    .resource
  tell('connection', id, name)
  await plane.sources.update(MILLRACE, source.id, { name: `${name} renamed` })
  tell('source', source.id, `${name} renamed`)
}

function tell(kind: string, id: string, name: string): void {
  writeSync(1, `${kind} ${id} ${name}\n`)
}
