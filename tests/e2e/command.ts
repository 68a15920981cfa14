import { runCommand } from '@millrace/server/cli'

export interface CommandResult {
  readonly code: number
  readonly out: string
  readonly err: string
}

/** One command of `millrace`, carried out in this process. */
export async function command(argv: readonly string[], env: Readonly<Record<string, string>>): Promise<CommandResult> {
  const [out, err]: [string[], string[]] = [[], []]
  const code = await runCommand({
    argv,
    env,
    stdout: { write: (text) => void out.push(text) },
    stderr: { write: (text) => void err.push(text) },
    start: () => Promise.reject(new Error('no command starts a server here')),
  })
  return { code, out: out.join(''), err: err.join('') }
}
