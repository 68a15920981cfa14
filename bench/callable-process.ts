import { type ChildProcess, fork } from 'node:child_process'
import { endWithBench } from './programs.ts'

type Handlers = Readonly<Record<string, (argument: never) => unknown>>
interface Call {
  readonly id: number
  readonly name: string
  readonly argument: unknown
}
interface Answer {
  readonly id: number
  readonly result?: unknown
  readonly error?: string
}

/** In the child: answers the calls of the bench, and ends with it. */
export function answerCalls(handlers: Handlers): void {
  process.on('message', async ({ id, name, argument }: Call) => {
    const answer = (members: Omit<Answer, 'id'>) => process.send?.({ id, ...members })
    try {
      answer({ result: await handlers[name]!(argument as never) })
    } catch (error) {
      answer({ error: (error as Error).stack ?? String(error) })
    }
  })
  process.on('disconnect', () => process.exit())
}

/** A process of the bench itself that is called by message: load and sink each have their own, apart from the product's. */
export class CallableProcess<H extends Handlers> implements Disposable {
  readonly #child: ChildProcess
  readonly #open = new Map<number, (answer: Answer) => void>()
  #calls = 0

  constructor(file: string) {
    this.#child = fork(file, { serialization: 'advanced' })
    endWithBench(this.#child)
    this.#child.on('message', (answer: Answer) => this.#open.get(answer.id)?.(answer))
    this.#child.on('exit', (code) => {
      for (const [id, settle] of this.#open) settle({ id, error: `${file} ended with ${code}` })
    })
  }

  /** @throws Error of the child, or if there is no answer in time. */
  async call<N extends keyof H & string>(
    name: N,
    argument: Parameters<H[N]>[0],
    timeoutMs: number,
  ): Promise<Awaited<ReturnType<H[N]>>> {
    const id = this.#calls++
    const { promise, resolve } = Promise.withResolvers<Answer>()
    const timer = setTimeout(() => resolve({ id, error: `no answer to ${name} within ${timeoutMs} ms` }), timeoutMs)
    this.#open.set(id, resolve)
    this.#child.send({ id, name, argument })
    const { error, result } = await promise
    clearTimeout(timer)
    this.#open.delete(id)
    if (error !== undefined) throw new Error(error)
    return result as Awaited<ReturnType<H[N]>>
  }

  [Symbol.dispose](): void {
    this.#child.kill('SIGKILL')
  }
}
