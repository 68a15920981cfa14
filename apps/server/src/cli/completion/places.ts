import type { Command } from 'commander'

/** The possible next words after some words. */
export interface Place {
  /** The commands so far, without the program's name: ``, `dead-letters`, `dead-letters list`. */
  readonly words: string
  readonly candidates: readonly Candidate[]
}

export interface Candidate {
  /** A command or an option; it consists of a-z, 0-9 and `-`. */
  readonly text: string
  readonly purpose: string
}

/** One entry for every command and group. */
export function placesOf(program: Command): Place[] {
  return [...within(program, [])]
}

function* within(command: Command, words: readonly string[]): Generator<Place> {
  const { commands, options } = command
  const choices = command.registeredArguments.flatMap(({ argChoices = [] }) => argChoices)
  // `help` accepts the words of any command; completing the first level suffices.
  const asArguments = command.name() === 'help' ? (command.parent?.commands ?? []) : []
  yield {
    words: words.join(' '),
    candidates: [
      ...[...commands, ...asArguments].map((each) => ({ text: each.name(), purpose: each.description() })),
      ...choices.map((text) => ({ text, purpose: '' })),
      ...options.flatMap(({ long, description }) => (long ? [{ text: long, purpose: description }] : [])),
      { text: '--help', purpose: 'show help' },
    ],
  }
  for (const each of commands) yield* within(each, [...words, each.name()])
}
