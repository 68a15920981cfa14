import type { Command } from 'commander'
import { type CommandContext, remote, withExample } from '../command.ts'
import { type ApplyOptions, apply, type PlanOptions, plan } from './plan.ts'
import { type PullOptions, pull } from './pull.ts'

/** The configuration as a file. */
export function addConfiguration(program: Command, { io, exitWith }: CommandContext): void {
  aboutFile(program.command('pull'), 'pull')
    .description('write the configuration of the server into a file; what the file says already stays')
    .action((options: PullOptions) => pull(options, io))
  aboutFile(program.command('plan'), 'plan --prune')
    .description('show what the file would change: exit code 0 nothing, 2 something, 1 error')
    .option('--prune', 'with the removal of what the file does not name')
    .action(async (options: PlanOptions) => exitWith(await plan(options, io)))
  aboutFile(program.command('apply'), 'apply')
    .description('show what the file changes, and change it: all of it or nothing')
    .option('--prune', 'remove what the file does not name')
    .option('--discard', 'end events that wait for what is removed')
    .action((options: ApplyOptions) => apply(options, io))
}

function aboutFile(command: Command, example: string): Command {
  return withExample(remote(command), example).option('--file <file>', 'of the configuration, in YAML', 'millrace.yaml')
}
