import ivm from 'isolated-vm'
import {
  FETCH_TIMEOUT_MS,
  MAX_FAILURE_CHARS,
  MAX_LOG_LINE_BYTES,
  MAX_OUTPUT_BYTES,
  MAX_OUTPUT_LEVELS,
  MAX_OUTPUTS_PER_EVENT,
} from '../limits.ts'
import { engineText } from './engine-text.ts'
import { BASE_PLACE, failureText } from './failure-text.ts'
import { linkedModules } from './linked-modules.ts'
import { encodingGlobals } from './realm/encoding.ts'
import { globals } from './realm/globals.ts'
import { type HostCall, runProgram } from './realm/run-program.ts'
import { structuredCloneGlobal } from './realm/structured-clone.ts'
import { urlGlobals } from './realm/url.ts'
import { SandboxFault } from './sandbox-fault.ts'
import type { StrippedVersion } from './versions.ts'

const BOUNDS = {
  maxOutputsPerEvent: MAX_OUTPUTS_PER_EVENT,
  maxOutputBytes: MAX_OUTPUT_BYTES,
  maxOutputLevels: MAX_OUTPUT_LEVELS,
  maxFailureChars: MAX_FAILURE_CHARS,
}
const ENTRY_MODULE = `import * as user from '${BASE_PLACE}'; export default user`
/** A character has a byte at least. */
const GLOBAL_BOUNDS = { maxTimeoutMs: FETCH_TIMEOUT_MS, maxLogLineChars: MAX_LOG_LINE_BYTES }
const GLOBALS = `const answering = (${globals})($0, ${JSON.stringify(GLOBAL_BOUNDS)})
;(${urlGlobals})($0)
;(${encodingGlobals})($0)
;(${structuredCloneGlobal})()
return answering`
const PROGRAM = `return (${runProgram})($0, ${JSON.stringify(BOUNDS)})`

/** As the engine says it. */
const TIMED_OUT = 'Script execution timed out.'

/** A context with our functions in it and nobody's code yet. */
export interface BareRealm {
  readonly context: ivm.Context
  readonly answering: ivm.Reference
  readonly program: ivm.Reference
}

export function bareRealm(isolate: ivm.Isolate, host: HostCall): BareRealm {
  const context = isolate.createContextSync()
  const call = new ivm.Callback(host)
  const asReference = { result: { reference: true } } as const
  return {
    context,
    answering: context.evalClosureSync(GLOBALS, [call], asReference),
    program: context.evalClosureSync(PROGRAM, [call], asReference),
  }
}

/**
 * One version in one sandbox: globals of its own and its modules. Whatever runs in it runs until there is nothing left
 * to do without an answer from outside, or until the time of the current stretch is over.
 */
export class Realm {
  readonly versionId: string
  readonly #isolate: ivm.Isolate
  readonly #context: ivm.Context
  readonly #entryModule: ivm.Module
  readonly #answering: ivm.Reference
  readonly #program: ivm.Reference
  readonly #functions = new Map<string, ivm.Reference>()
  #isLoaded = false
  /** What the current stretch may still compute. */
  readonly #leftMs: () => number
  /** Failure text of what user code threw where nothing waits for it: only its module's own evaluation is of interest. */
  #loose: string | undefined

  /**
   * @throws RefusedCodeError
   * @throws SyntaxError of the engine
   */
  constructor(isolate: ivm.Isolate, version: StrippedVersion, bare: BareRealm, leftMs: () => number) {
    this.versionId = version.versionId
    this.#isolate = isolate
    this.#leftMs = leftMs
    const { base, libraries } = linkedModules(isolate, version)
    this.#context = bare.context
    this.#answering = bare.answering
    this.#program = bare.program
    this.#entryModule = isolate.compileModuleSync(ENTRY_MODULE)
    this.#entryModule.instantiateSync(this.#context, (specifier) =>
      specifier === BASE_PLACE ? base : libraries.get(specifier)!,
    )
  }

  /** Evaluates the modules; once is enough for the realm's life. */
  evaluate(): void {
    this.#bounded((timeout) => this.#entryModule.evaluateSync({ timeout }))
  }

  /** Whether the modules are evaluated; they may wait at their top level. */
  isReady(): boolean {
    this.#isLoaded ||= this.#call('isReady', this.#entryModule.namespace.derefInto()) === true
    return this.#isLoaded
  }

  get isLoaded(): boolean {
    return this.#isLoaded
  }

  /** Why the modules are not evaluated, where their code threw. */
  get loadFailure(): string | undefined {
    return this.#loose
  }

  entries(): string {
    return String(this.#call('entries'))
  }

  /** @returns what `result` gives. @see RunProgram.start */
  start(entry: string, events: string, metadata: string, of: string, count: number): string {
    const text = this.#call('start', entry, events, metadata, of, count)
    return typeof text === 'string' && text !== '' ? text : this.result()
  }

  /** @returns the step's result (messages.ts, SettledMessage); empty while anything is open. */
  result(): string {
    const text = this.#call('result')
    return typeof text === 'string' ? text : ''
  }

  answer(fetchId: number, answer: string): void {
    this.#bounded((timeout) =>
      this.#function(this.#answering, 'answer').applySync(undefined, [fetchId, answer], { timeout }),
    )
  }

  release(): void {
    this.#context.release()
  }

  #call(name: string, ...given: unknown[]): unknown {
    return this.#bounded((timeout) => this.#function(this.#program, name).applySync(undefined, given, { timeout }))
  }

  #function(owner: ivm.Reference, name: string): ivm.Reference {
    let found = this.#functions.get(name)
    if (found === undefined) {
      found = owner.getSync(name, { reference: true }) as ivm.Reference
      this.#functions.set(name, found)
    }
    return found
  }

  #bounded<T>(run: (timeoutMs: number) => T): T | undefined {
    try {
      return run(Math.max(1, Math.ceil(this.#leftMs())))
    } catch (thrown) {
      // A copy of it, made by the engine: an error, or whatever JSON could hold.
      const error = (typeof thrown === 'object' && thrown !== null ? thrown : {}) as Partial<Error>
      if (this.#isolate.isDisposed) throw new SandboxFault('out of memory')
      if (error.message === TIMED_OUT) throw new SandboxFault('timed out')
      this.#loose = looseText(thrown, error)
      return undefined
    }
  }
}

function looseText(thrown: unknown, { name, message, stack }: Partial<Error>): string {
  if (typeof thrown === 'string' && thrown !== '') return thrown.slice(0, MAX_FAILURE_CHARS)
  if (typeof stack !== 'string') return 'Error'
  return failureText(String(name ?? 'Error'), String(message ?? ''), engineText(stack))
}
