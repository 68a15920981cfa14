import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { programArguments } from '@millrace/dev-env/program-arguments'
import { Bench } from './bench.ts'
import { operatorsTable } from './operators.ts'
import { measureProductOf } from './product.ts'
import { profileSummary } from './profile.ts'
import type { Row } from './row.ts'
import { acceptanceRows } from './rows/acceptance.ts'
import { batchRows } from './rows/batches.ts'
import { catalogRows } from './rows/catalog.ts'
import { clusterRows } from './rows/cluster.ts'
import { dashboardRows } from './rows/dashboard.ts'
import { deliveryRows } from './rows/delivery.ts'
import { destinationCatalogRows } from './rows/destination-catalog.ts'
import { duplicatesRows } from './rows/duplicates.ts'
import { duplicatesInLogRows } from './rows/duplicates-in-log.ts'
import { fairnessRows } from './rows/fairness.ts'
import { fanOutRows } from './rows/fan-out.ts'
import { idleRow } from './rows/idle.ts'
import { isolationRows } from './rows/isolation.ts'
import { latencyRow } from './rows/latency.ts'
import { outageRow } from './rows/outage.ts'
import { postgresOutcomeRows } from './rows/postgres-outcomes.ts'
import { sdkRows } from './rows/sdk.ts'
import { startRows } from './rows/start.ts'
import { stockRows } from './rows/stock.ts'
import { testApiRow } from './rows/test-api.ts'
import { threadRows } from './rows/threads.ts'
import { userCodeRows } from './rows/user-code.ts'
import { watchedRows } from './rows/watched.ts'
import { type Line, resultOf, tableOf } from './table.ts'

const rows: readonly Row[] = [
  ...acceptanceRows,
  ...duplicatesRows,
  ...duplicatesInLogRows,
  ...deliveryRows,
  ...threadRows,
  ...batchRows,
  ...userCodeRows,
  ...fanOutRows,
  ...isolationRows,
  ...fairnessRows,
  ...catalogRows,
  latencyRow,
  testApiRow,
  idleRow,
  ...destinationCatalogRows,
  ...startRows,
  ...stockRows,
  outageRow,
  ...postgresOutcomeRows,
  ...clusterRows,
  ...sdkRows,
  ...watchedRows,
  ...dashboardRows,
]

const { values, positionals, refuse } = programArguments({
  usage: `Measures the product and prints a table: every row, in about an hour and a half, or the named ones.

  npm run bench [-- <row> … --json --profile --small --of <folder> --against <folder>]

  <row> …             names from the list below
  --json              prints every sample as JSON, instead of the table
  --profile           also prints the CPU of the product by thread
  --small             runs long rows with little data, to check that they work
  --of <folder>       measures the product of another checkout
  --against <folder>  compares with the product of another checkout instead of the limit program

Rows, which bench/README.md explains:

${listOfRows()}`,
  takesNames: true,
  options: {
    json: { type: 'boolean', default: false },
    profile: { type: 'boolean', default: false },
    small: { type: 'boolean', default: false },
    of: { type: 'string' },
    against: { type: 'string' },
  },
})
const isForOperators = positionals.includes('operators')
const names = positionals.filter((name) => name !== 'operators')
const unknown = names.find((name) => !rows.some((row) => row.name === name))
if (unknown !== undefined) refuse(`There is no row ${unknown}.`)
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => process.exit(1))

const profileTo = values.profile ? mkdtempSync(path.join(tmpdir(), 'millrace-profile-')) : undefined
process.on('exit', () => profileTo !== undefined && rmSync(profileTo, { recursive: true, force: true }))
if (values.of !== undefined) measureProductOf(path.resolve(values.of))
using bench = await Bench.open({
  profileTo,
  isSmall: values.small,
  against: values.against && path.resolve(values.against),
})
if (isForOperators) process.stdout.write(await operatorsTable(bench))
const lines: Line[] = []
const isEvery = names.length === 0 && !isForOperators
for (const row of rows.filter(({ name }) => isEvery || names.includes(name))) {
  console.error(`${row.name}: ${row.figure} …`)
  const line = { row, measured: await row.measure(bench) }
  lines.push(line)
  // Printed at once: a run takes an hour, and may be ended before its table.
  console.error(`    ${resultOf(line)}`)
}

if (values.json) console.log(JSON.stringify(lines.map(jsonLine), undefined, 2))
else if (lines.length > 0) process.stdout.write(tableOf(lines))
if (profileTo !== undefined) process.stdout.write(profileSummary(profileTo))

function listOfRows(): string {
  const listed = [
    ...rows,
    { name: 'operators', figure: 'the table of docs/operations.md: CPU, memory and disk by traffic' },
  ]
  const width = Math.max(...listed.map(({ name }) => name.length))
  return listed.map(({ name, figure }) => `  ${name.padEnd(width)}  ${figure}`).join('\n')
}

function jsonLine({ row: { name, figure, goal }, measured }: Line) {
  return { name, figure, goal, ...measured }
}
