import { type ParseArgsOptionsConfig, parseArgs } from 'node:util'

/** Exit code of wrong usage, as of the commands of `millrace`. */
const WRONG_USAGE = 64

export interface ProgramUsage<T extends ParseArgsOptionsConfig> {
  /** The text of `--help`. */
  readonly usage: string
  readonly options?: T
  /** Whether it takes words that are no options; they are `positionals`. */
  readonly takesNames?: boolean
}

type Parsed<T extends ParseArgsOptionsConfig> = ReturnType<
  typeof parseArgs<{ readonly options: T; readonly allowPositionals: true }>
>

/**
 * The arguments of a program that developers run with `npm run`. `--help` prints the usage and ends the program with 0. Arguments
 * that the program does not know end it with 64, after the usage and their name.
 *
 * @returns `refuse` ends the program in the same way, for reasons that the program finds itself.
 */
export function programArguments<const T extends ParseArgsOptionsConfig = Record<never, never>>(
  program: ProgramUsage<T>,
  args: readonly string[] = process.argv.slice(2),
): Parsed<T> & { readonly refuse: (reason: string) => never } {
  const usage = program.usage.trim()
  const refuse = (reason: string): never => {
    // The reason comes last: a long usage does not push it off the screen.
    process.stderr.write(`${usage}\n\n${reason}\n`)
    process.exit(WRONG_USAGE)
  }
  if (asksForHelp(args)) {
    process.stdout.write(`${usage}\n`)
    process.exit()
  }
  try {
    const options = program.options ?? ({} as T)
    const parsed = parseArgs({ args: [...args], options, allowPositionals: true })
    const [unexpected] = parsed.positionals
    if (unexpected !== undefined && program.takesNames !== true) return refuse(`It takes no argument ${unexpected}.`)
    return { ...(parsed as Parsed<T>), refuse }
  } catch (error) {
    return refuse(reasonOf(error as Error))
  }
}

function asksForHelp(args: readonly string[]): boolean {
  const end = args.indexOf('--')
  const words = end === -1 ? args : args.slice(0, end)
  return words.includes('--help') || words.includes('-h')
}

/** Node's own text, without its advice about arguments that begin with a hyphen. */
function reasonOf({ message }: Error): string {
  const [reason = message] = message.split(/\. To specify |\n/)
  return reason.endsWith('.') ? reason : `${reason}.`
}
