import { programArguments } from '@millrace/dev-env/program-arguments'
import { takeAllDisksAway } from './machine.ts'
import { programs } from './programs.ts'
import { Progress } from './progress.ts'
import { carryOut } from './run.ts'

const MAX_THREADS = 16

const width = Math.max(...programs.map(({ id }) => id.length))
const { values, positionals, refuse } = programArguments({
  usage: `Breaks the running product from outside, and says for each program whether it held. Exit code 1: one did not hold.

  npm run chaos [-- <program> … --short --seed <n> --threads <n>]

  <program> …    names from the list below; default: all of them
  --short        the form that our checks run, within minutes
  --seed <n>     repeats the random choices of a run, which prints its seed
  --threads <n>  delivery threads of the product, 1 to ${MAX_THREADS}; default: what each program says

Programs, which docs/chaos.md explains:

${programs.map(({ id, title }) => `  ${id.padEnd(width)}  ${title}`).join('\n')}`,
  takesNames: true,
  options: { short: { type: 'boolean', default: false }, seed: { type: 'string' }, threads: { type: 'string' } },
})
const unknown = positionals.find((id) => !programs.some((program) => program.id === id))
if (unknown !== undefined) refuse(`There is no program ${unknown}.`)
const given = values.seed === undefined ? undefined : Number(values.seed)
if (given !== undefined && !Number.isSafeInteger(given)) refuse('--seed takes a whole number.')
const threads = values.threads === undefined ? undefined : Number(values.threads)
if (threads !== undefined && !(Number.isInteger(threads) && threads >= 1 && threads <= MAX_THREADS)) {
  refuse(`--threads takes a whole number from 1 to ${MAX_THREADS}.`)
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
