import { LARGE_SANDBOX_BYTES } from '../limits.ts'
import type { ChildOptions, FromChild, RunMessage, SettledMessage, ToChild } from '../messages.ts'
import { check } from './check.ts'
import { type PendingFetch, RunDeps } from './host-calls.ts'
import { type FetchAnswers, runSteps } from './run-steps.ts'
import { Sandbox } from './sandbox.ts'
import { SandboxFault } from './sandbox-fault.ts'
import { type StrippedVersion, strippedVersion, Versions } from './versions.ts'

/** Maps of credentials that are kept; an older one is asked for again. */
const MAX_CREDENTIAL_MAPS = 16

type Send = (message: FromChild, texts?: readonly string[]) => void

/** What a child does with each message; see messages.ts for who speaks when. */
export class ChildProgram {
  readonly #options: ChildOptions
  readonly #send: Send
  readonly #versions = new Versions()
  readonly #credentials = new Map<number, ReadonlyMap<string, string>>()
  /** By key: those that are kept for the destination's next batch. */
  readonly #sandboxes = new Map<string, Sandbox>()
  /** Never used: for the next run that must begin fresh. Only a child that has had such a run makes one. */
  #spare: Sandbox | undefined
  /** By key: who waits for answers. */
  readonly #waiting = new Map<string, (given: FetchAnswers) => void>()

  constructor(options: ChildOptions, send: Send) {
    this.#options = options
    this.#send = send
  }

  /** @param texts of the message, as messages.ts says. */
  take(message: ToChild, texts: readonly string[]): void {
    switch (message.kind) {
      case 'run':
        void this.#run(message, texts)
        break
      case 'answers': {
        const resume = this.#waiting.get(message.key)
        this.#waiting.delete(message.key)
        resume?.({ ...message, answers: message.ids.map((id, at) => ({ id, answer: texts[at]! })) })
        break
      }
      case 'check':
        void check(message.code, message.libraries, this.#options.memoryMb).then((result) =>
          this.#send({ kind: 'checked', result }),
        )
        break
      case 'close':
        this.#sandboxes.get(message.key)?.close()
        this.#sandboxes.delete(message.key)
        this.#waiting.delete(message.key)
        break
    }
  }

  async #run(message: RunMessage, texts: readonly string[]): Promise<void> {
    if (message.credentials !== undefined) this.#keep(message.credentialsId, new Map(message.credentials))
    const credentials = this.#credentials.get(message.credentialsId)
    const versions = await this.#versionsOf(message)
    if (versions === undefined || credentials === undefined) {
      this.#send({ kind: 'needs', code: versions === undefined, credentials: credentials === undefined })
      return
    }
    const deps = new RunDeps(message.captureLogs, credentials, message.count)
    const sandbox = this.#sandboxes.get(message.key) ?? this.#newSandbox(message)
    this.#sandboxes.set(message.key, sandbox)
    sandbox.deps = deps
    let steps: readonly string[] = []
    let trouble: SandboxFault | undefined
    try {
      const [events = '', metadata = ''] = texts
      const exchange = (fetches: readonly PendingFetch[]) => this.#exchange(message.key, fetches)
      steps = await runSteps({ sandbox, deps, versions, message, events, metadata, exchange })
    } catch (error) {
      trouble = error instanceof SandboxFault ? error : new SandboxFault('sandbox lost')
      if (trouble !== error) process.stderr.write(`${(error as Error).stack}\n`)
    }
    sandbox.deps = undefined
    const { logs, loggedBy, loggedFor } = deps
    const settled: SettledMessage = {
      kind: 'settled',
      ...(trouble === undefined ? {} : { trouble: trouble.kind }),
      logs,
      loggedBy,
      loggedFor,
      sandboxBytes: this.#leave(message, sandbox, trouble !== undefined),
      residentBytes: process.memoryUsage.rss(),
    }
    this.#send(settled, steps)
    if (message.isFresh) setImmediate(() => this.#prepareSpare())
  }

  #newSandbox({ isFresh }: RunMessage): Sandbox {
    const spare = isFresh ? this.#spare : undefined
    if (spare !== undefined) this.#spare = undefined
    return spare ?? new Sandbox(this.#options.memoryMb)
  }

  /** While the server is busy with what the last run gave. */
  #prepareSpare(): void {
    if (this.#spare !== undefined) return
    this.#spare = new Sandbox(this.#options.memoryMb)
    this.#spare.prepare()
  }

  /** Closes the sandbox where it must not serve another run. @returns what it holds. */
  #leave({ key, isFresh }: RunMessage, sandbox: Sandbox, isFaulty: boolean): number {
    const bytes = isFresh || isFaulty || sandbox.isDisposed ? 0 : sandbox.size()
    if (bytes !== 0 && bytes <= LARGE_SANDBOX_BYTES) return bytes
    sandbox.close()
    this.#sandboxes.delete(key)
    return 0
  }

  #exchange(key: string, fetches: readonly PendingFetch[]): Promise<FetchAnswers> {
    const { promise, resolve } = Promise.withResolvers<FetchAnswers>()
    this.#waiting.set(key, resolve)
    const ids = fetches.map(({ id }) => id)
    this.#send(
      { kind: 'waits', ids },
      fetches.map(({ text }) => text),
    )
    return promise
  }

  async #versionsOf({ versionIds, code, isFresh }: RunMessage): Promise<readonly StrippedVersion[] | undefined> {
    if (isFresh) return Promise.all((code ?? []).map(strippedVersion))
    for (const version of code ?? []) await this.#versions.add(version)
    const versions = versionIds.map((versionId) => this.#versions.get(versionId))
    return versions.every((version) => version !== undefined) ? versions : undefined
  }

  #keep(id: number, credentials: ReadonlyMap<string, string>): void {
    this.#credentials.set(id, credentials)
    for (const oldest of this.#credentials.keys()) {
      if (this.#credentials.size <= MAX_CREDENTIAL_MAPS) break
      this.#credentials.delete(oldest)
    }
  }
}
