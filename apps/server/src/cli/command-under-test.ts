import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type CommandLine, runCommand } from './cli.ts'

/** One request of a command. */
export interface SeenRequest {
  readonly method: string
  readonly path: string
  readonly authorization: string | undefined
  readonly body: string
}

export type Answer = readonly [status: number, body: unknown, headers?: Record<string, string>]

/** A real HTTP server that answers from a table, by `METHOD /path?query` or else by `METHOD /path`. */
export class AnsweringServer implements AsyncDisposable {
  readonly requests: SeenRequest[] = []
  readonly #answers: Record<string, Answer | ((request: SeenRequest) => Answer)>
  readonly #server = createServer((request, response) => {
    void readBody(request).then((body) => {
      const { method = '', url = '', headers } = request
      const seen = { method, path: url, authorization: headers.authorization, body }
      this.requests.push(seen)
      const found = this.#answers[`${method} ${url}`] ?? this.#answers[`${method} ${url.split('?')[0]}`]
      const [status, answer, answerHeaders] = typeof found === 'function' ? found(seen) : (found ?? NOT_FOUND)
      response.writeHead(status, answerHeaders)
      response.end(typeof answer === 'string' ? answer : JSON.stringify(answer))
    })
  })

  private constructor(answers: Record<string, Answer | ((request: SeenRequest) => Answer)>) {
    this.#answers = answers
  }

  static async start(answers: Record<string, Answer | ((request: SeenRequest) => Answer)>): Promise<AnsweringServer> {
    const server = new AnsweringServer(answers)
    await new Promise<void>((resolve) => server.#server.listen(0, '127.0.0.1', resolve))
    return server
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections()
    await new Promise((resolve) => this.#server.close(resolve))
  }
}

const NOT_FOUND: Answer = [404, { error: 'Not Found', code: 'not_found', details: null }]

async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks).toString()
}

export interface CommandResult {
  readonly code: number
  readonly out: string
  readonly err: string
}

/** Runs one command and captures its output. */
export async function run(
  argv: readonly string[],
  env: Record<string, string> = {},
  more: Partial<CommandLine> & { readonly isTerminal?: boolean } = {},
): Promise<CommandResult> {
  const { isTerminal = false, ...line } = more
  let out = ''
  let err = ''
  const code = await runCommand({
    argv,
    env,
    stdout: { write: (text) => (out += text), isTTY: isTerminal },
    stderr: { write: (text) => (err += text), isTTY: isTerminal },
    start: async () => 0,
    ...line,
  })
  return { code, out, err }
}
