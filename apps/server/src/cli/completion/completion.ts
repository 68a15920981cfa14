import { Argument, type Command } from 'commander'
import { type CommandContext, withExample } from '../command.ts'
import { bashScript } from './bash.ts'
import { fishScript } from './fish.ts'
import { type Place, placesOf } from './places.ts'
import { zshScript } from './zsh.ts'

const SCRIPTS: Readonly<Record<string, (places: readonly Place[]) => string>> = {
  bash: bashScript,
  zsh: zshScript,
  fish: fishScript,
}

/** `millrace completion bash`: prints a completion script, generated from the commands. */
export function addCompletion(program: Command, { io }: CommandContext): void {
  const command = program
    .command('completion')
    .description('print a script that completes commands and options in a shell')
    .addArgument(new Argument('<shell>', 'bash, zsh or fish').choices(Object.keys(SCRIPTS)))
  withExample(command, 'completion bash > ~/.local/share/bash-completion/completions/millrace').action(
    (shell: string) => void io.stdout.write(SCRIPTS[shell]!(placesOf(program))),
  )
}
