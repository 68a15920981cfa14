import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { parseArgs } from 'node:util'
import { Bench } from './bench.ts'
import { profileSummary } from './profile.ts'
import type { Row } from './row.ts'
import { acceptanceRows } from './rows/acceptance.ts'
import { catalogRows } from './rows/catalog.ts'
import { deliveryRows } from './rows/delivery.ts'
import { fanOutRows } from './rows/fan-out.ts'
import { idleRow } from './rows/idle.ts'
import { isolationRows } from './rows/isolation.ts'
import { latencyRow } from './rows/latency.ts'
import { sdkRows } from './rows/sdk.ts'
import { startRow } from './rows/start.ts'
import { testApiRow } from './rows/test-api.ts'
import { userCodeRows } from './rows/user-code.ts'
import { type Line, tableOf } from './table.ts'

// npm run bench -- [P1 P2 …] [--json] [--profile]

const rows: readonly Row[] = [
  ...acceptanceRows,
  ...deliveryRows,
  ...userCodeRows,
  ...fanOutRows,
  ...isolationRows,
  ...catalogRows,
  latencyRow,
  testApiRow,
  idleRow,
  startRow,
  ...sdkRows,
]

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { json: { type: 'boolean', default: false }, profile: { type: 'boolean', default: false } },
})
const unknown = positionals.find((name) => !rows.some((row) => row.name === name))
if (unknown !== undefined) {
  console.error(`No row ${unknown}; there are ${[...new Set(rows.map(({ name }) => name))].join(', ')}`)
  process.exit(64)
}
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => process.exit(1))

const profileTo = values.profile ? mkdtempSync(path.join(tmpdir(), 'millrace-profile-')) : undefined
process.on('exit', () => profileTo !== undefined && rmSync(profileTo, { recursive: true, force: true }))
using bench = await Bench.open(profileTo)
const lines: Line[] = []
for (const row of rows.filter(({ name }) => positionals.length === 0 || positionals.includes(name))) {
  console.error(`${row.name}: ${row.figure} …`)
  lines.push({ row, measured: await row.measure(bench) })
}

if (values.json) console.log(JSON.stringify(lines.map(jsonLine), undefined, 2))
else process.stdout.write(tableOf(lines))
if (profileTo !== undefined) process.stdout.write(profileSummary(profileTo))

function jsonLine({ row: { name, figure, goal }, measured }: Line) {
  return { name, figure, goal, ...measured }
}
