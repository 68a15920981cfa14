import { parseArgs } from 'node:util'
import { takeAllDisksAway } from './machine.ts'
import { programs } from './programs.ts'
import { Progress } from './progress.ts'
import { carryOut } from './run.ts'

// npm run chaos [-- R1 R7 …] [--short] [--seed n] [--threads n]

const MAX_THREADS = 16

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { short: { type: 'boolean', default: false }, seed: { type: 'string' }, threads: { type: 'string' } },
})
const unknown = positionals.find((id) => !programs.some((program) => program.id === id))
const given = values.seed === undefined ? undefined : Number(values.seed)
const threads = values.threads === undefined ? undefined : Number(values.threads)
const isThreadCount = threads === undefined || (Number.isInteger(threads) && threads >= 1 && threads <= MAX_THREADS)
if (unknown !== undefined || (given !== undefined && !Number.isSafeInteger(given)) || !isThreadCount) {
  console.error(
    unknown === undefined
      ? `--seed takes a whole number, --threads one from 1 to ${MAX_THREADS}`
      : `No program ${unknown}; there are ${programs.map(({ id }) => id).join(', ')}`,
  )
  process.exit(64)
}
// However this ends.
process.on('exit', takeAllDisksAway)
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => process.exit(1))

const size = values.short ? 'short' : 'full'
for (const program of programs.filter(({ id }) => positionals.length === 0 || positionals.includes(id))) {
  using progress = new Progress(`${program.id} ${program.title}`)
  const seed = given ?? Math.floor(Math.random() * 2 ** 31)
  const { verdict, line } = await carryOut(program, { size, seed, threads, say: (what) => progress.say(what) })
  progress.end()
  console.log(line)
  if (verdict === 'BROKEN') process.exitCode = 1
}
// A program that was given up may have left something open.
process.exit()
