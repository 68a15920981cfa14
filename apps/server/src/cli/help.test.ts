import { systemClock } from '@millrace/std'
import type { Command } from 'commander'
import { expect, test } from 'vitest'
import { run } from './command-under-test.ts'
import { newProgram } from './commands.ts'

const nowhere = { write: () => {} }
const io = {
  env: {},
  stdout: nowhere,
  stderr: nowhere,
  stdin: (async function* () {})(),
  clock: systemClock,
  untilStopped: () => new Promise(() => {}),
}
const COMMANDS = [...leaves(newProgram({ io, start: async () => 0, exitWith: () => {} }), [])]

test.each(COMMANDS)('millrace %s has a help with what it does and an example of it', async (words) => {
  const help = await run(['help', ...words.split(' ')])
  expect(help).toMatchObject({ code: 0, err: '' })
  expect(help.out).toMatch(new RegExp(`^Usage: millrace ${words}( |\n)`))
  expect(help.out).toContain(`\nExample:\n  millrace ${words}`)
  expect(await run([...words.split(' '), '--help'])).toEqual(help)
})

test('help alone is the help of the program', async () => {
  expect(await run(['help'])).toEqual(await run(['--help']))
})

test.each([
  [['strat'], 'Did you mean start?'],
  [['dead-leters'], 'Did you mean dead-letters?'],
  [['token', 'creat'], 'Did you mean create?'],
  [['token', 'list', '--jsn'], 'Did you mean --json?'],
  [['strat'], '(see npm run millrace -- --help)'],
  [['trace'], '(see npm run millrace -- help trace)'],
  [['token', 'list', '--jsn'], '(see npm run millrace -- help token list)'],
  [['dead-letters', 'replay'], 'List them with: npm run millrace -- dead-letters list'],
  [['replay', 'start'], 'Its options: npm run millrace -- help replay start'],
  [['help', 'token', 'creat'], 'There is no command "token creat".\nDid you mean create?'],
  [['help', 'xxxxxxxxxx'], 'Commands: start, cluster-demo, migrate, settings, doctor,'],
])('millrace %j is wrong usage: 64, with what may be meant', async (words, err) => {
  const result = await run(words)
  expect(result).toMatchObject({ code: 64, out: '' })
  expect(result.err).toContain(err)
})

function* leaves(command: Command, words: readonly string[]): Generator<string> {
  for (const each of command.commands) {
    const all = [...words, each.name()]
    if (each.commands.length === 0) yield all.join(' ')
    else yield* leaves(each, all)
  }
}
