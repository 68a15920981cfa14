import type { Command } from 'commander'
import { nearest } from '../config/unknown-settings.ts'
import { type CommandContext, withExample } from './command.ts'
import { usageError } from './command-io.ts'
import { oneLine } from './paint.ts'

/** `millrace help dead-letters list` */
export function addHelp(program: Command, _context: CommandContext): void {
  const command = program.command('help [command...]').description('show help for a command')
  withExample(command, 'help dead-letters list').action((words: readonly string[]) => {
    commandOf(program, words).outputHelp()
  })
}

function commandOf(program: Command, words: readonly string[]): Command {
  let command = program
  for (const word of words) {
    const names = command.commands.map((each) => each.name())
    const found = command.commands.find((each) => each.name() === word)
    if (found === undefined) {
      const meant = nearest(word, names)
      throw usageError(
        `There is no command "${oneLine([...namesUpTo(command), word].join(' '))}".`,
        meant === undefined ? `Commands: ${names.join(', ')}.` : `Did you mean ${meant}?`,
      )
    }
    command = found
  }
  return command
}

/** The words of a command, without the program's name. */
function namesUpTo(command: Command): string[] {
  return command.parent === null ? [] : [...namesUpTo(command.parent), command.name()]
}
