import { readFileSync } from 'node:fs'
import { glob } from 'node:fs/promises'
import { MESSAGE_TEST_FILE_ENDING, readMessageTestFile } from '@millrace/protocol/message-test-file'
import { CommandError, type CommandIo, EXIT } from '../command-io.ts'
import { json, oneLine, paintFor } from '../paint.ts'
import { writeFile } from '../write-file.ts'
import { junitReport } from './junit.ts'
import { OfflineWorkspace } from './offline-workspace.ts'
import { runTests, type TestOutcome } from './run-tests.ts'

export interface TestFilesOptions {
  readonly config: string
  readonly junit?: string
  readonly json?: boolean
}

/**
 * Runs the tests of these files, or of every test file in this folder and below.
 *
 * @returns the exit code: failed if a test fails.
 * @throws CommandError without a file, or for one that cannot be read.
 */
export async function runTestFiles(
  named: readonly string[],
  options: TestFilesOptions,
  io: CommandIo,
): Promise<number> {
  const files = named.length > 0 ? named : await testFiles()
  if (files.length === 0) throw new CommandError(`No *${MESSAGE_TEST_FILE_ENDING} in this folder or below.`)
  const read = files.map((file) => ({ file, tests: readTests(file) }))
  await using workspace = await OfflineWorkspace.open(options.config, io.env)
  const outcomes: TestOutcome[] = []
  for (const { file, tests } of read) outcomes.push(...(await runTests(workspace, file, tests)))
  const pass = outcomes.every(({ failure }) => failure === undefined)
  io.stdout.write(options.json ? `${json({ pass, tests: outcomes.map(shown) })}\n` : outcomeText(outcomes, io))
  if (options.junit !== undefined) writeFile(options.junit, junitReport(outcomes))
  return pass ? EXIT.done : EXIT.failed
}

async function testFiles(): Promise<string[]> {
  const found = await Array.fromAsync(glob(`**/*${MESSAGE_TEST_FILE_ENDING}`, { exclude: ['**/node_modules'] }))
  return found.sort()
}

/** @throws CommandError with every error of the file and its place. */
function readTests(file: string) {
  let text: string
  try {
    text = readFileSync(file, 'utf8')
  } catch (error) {
    const isMissing = (error as NodeJS.ErrnoException).code === 'ENOENT'
    throw new CommandError(`${file} ${isMissing ? 'does not exist' : `cannot be read: ${(error as Error).message}`}.`)
  }
  const read = readMessageTestFile(text)
  if ('tests' in read) return read.tests
  const lines = read.faults.map(({ line, column, message }) => `${file}:${line}:${column} ${oneLine(message)}`)
  throw new CommandError(`${file} cannot be run:`, lines.join('\n'))
}

function shown({ file, name, destination, stage, failure, mismatches, result }: TestOutcome) {
  return { file, name, destination, stage, pass: failure === undefined, mismatches, result: result ?? null }
}

function outcomeText(outcomes: readonly TestOutcome[], io: CommandIo): string {
  const paint = paintFor(io.stdout, io.env)
  const lines = outcomes.flatMap(({ file, name, destination, stage, failure }, i) => {
    const title = `${oneLine(name)}  (${oneLine(destination)}, ${stage})`
    const head = file === outcomes[i - 1]?.file ? [] : [paint('bold', file)]
    if (failure === undefined) return [...head, `  ${paint('green', 'pass')}  ${title}`]
    return [...head, `  ${paint('red', 'FAIL')}  ${title}`, ...failure.map((line) => `          ${line}`)]
  })
  const failures = outcomes.filter(({ failure }) => failure !== undefined).length
  const passed = `${outcomes.length - failures} passed`
  const summary = failures === 0 ? paint('green', passed) : `${passed}, ${paint('red', `${failures} failed`)}`
  return `${lines.join('\n')}\n\n${summary}\n`
}
