import type { Command } from 'commander'
import { type CommandContext, remote, withExample } from '../command.ts'
import type { ApplyOptions, PlanOptions } from './plan.ts'
import type { PullOptions } from './pull.ts'

/** The commands for configuration as code. */
export function addConfiguration(program: Command, { io, exitWith }: CommandContext): void {
  aboutFile(program.command('pull'), 'pull')
    .description("write the server's configuration into a file, keeping its comments and order")
    .action(async (options: PullOptions) => (await import('./pull.ts')).pull(options, io))
  aboutFile(program.command('plan'), 'plan --prune')
    .description('show what the file would change; exit code 0: no changes, 2: changes, 1: error')
    .option('--prune', 'include removals of resources that the file does not name')
    .action(async (options: PlanOptions) => exitWith(await (await import('./plan.ts')).plan(options, io)))
  aboutFile(program.command('apply'), 'apply')
    .description('show what the file changes and apply it, all or nothing')
    .option('--prune', 'remove resources that the file does not name')
    .option('--discard', 'discard events that wait for a removed resource')
    .action(async (options: ApplyOptions) => (await import('./plan.ts')).apply(options, io))
}

function aboutFile(command: Command, example: string): Command {
  return withExample(remote(command), example).option('--file <file>', 'of the configuration, in YAML', 'millrace.yaml')
}
