import type { Command } from 'commander'
import { type CommandContext, withExample } from '../command.ts'
import type { TestFilesOptions } from './run-test-files.ts'

/** `millrace test` */
export function addTest(program: Command, { io, exitWith }: CommandContext): void {
  withExample(program.command('test [files...]'), 'test --junit report.xml')
    .description('run the tests in *.millrace-test.yaml against a configuration file; nothing is sent')
    .option('--config <file>', 'of the configuration, in YAML', 'millrace.yaml')
    .option('--junit <file>', 'write a JUnit report')
    .option('--json', 'print the result of every test')
    .action(async (files: readonly string[], options: TestFilesOptions) => {
      const { runTestFiles } = await import('./run-test-files.ts')
      exitWith(await runTestFiles(files, options, io))
    })
}
