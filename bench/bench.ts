import { CallableProcess } from './callable-process.ts'
import type { LoadCalls } from './load-process.ts'
import type { SinkCalls } from './sink-process.ts'

const START_TIMEOUT_MS = 10_000

type BenchOptions = Pick<Bench, 'profileTo' | 'isSmall' | 'against'>

/** What every row uses: the processes that load the programs and receive from them, up for the whole time. */
export class Bench implements Disposable {
  readonly load: CallableProcess<LoadCalls>
  readonly sink: CallableProcess<SinkCalls>
  readonly #sinkOrigin: string
  readonly profileTo: string | undefined
  /** Rows that take long take little: it is only to be seen that they run. */
  readonly isSmall: boolean
  /** Folder of a checkout whose product takes the place of limit programs. */
  readonly against: string | undefined
  #runs = 0

  /** @param options `profileTo`: folder for CPU profiles of the product, if they are wanted. */
  static async open(options: BenchOptions): Promise<Bench> {
    const load = new CallableProcess<LoadCalls>(new URL('./load-process.ts', import.meta.url).pathname)
    const sink = new CallableProcess<SinkCalls>(new URL('./sink-process.ts', import.meta.url).pathname)
    const port = await sink.call('listen', undefined, START_TIMEOUT_MS)
    return new Bench(load, sink, `http://127.0.0.1:${port}`, options)
  }

  private constructor(
    load: CallableProcess<LoadCalls>,
    sink: CallableProcess<SinkCalls>,
    sinkOrigin: string,
    { profileTo, isSmall, against }: BenchOptions,
  ) {
    this.load = load
    this.sink = sink
    this.#sinkOrigin = sinkOrigin
    this.profileTo = profileTo
    this.isSmall = isSmall
    this.against = against
  }

  /** Of a webhook that answers at once and counts what comes, 0 to 9. */
  sinkUrl(destination = 0): string {
    return `${this.#sinkOrigin}/in/${destination}`
  }

  /** Of one that answers at once and counts nothing. */
  get spareUrl(): string {
    return `${this.#sinkOrigin}/spare`
  }

  /** Of one that is not there. */
  get deadUrl(): string {
    return 'http://127.0.0.1:9/in'
  }

  /** Of one that never answers. */
  get hangingUrl(): string {
    return `${this.#sinkOrigin}/hang`
  }

  /** A number that no earlier run had. */
  nextRun(): number {
    return ++this.#runs
  }

  [Symbol.dispose](): void {
    this.load[Symbol.dispose]()
    this.sink[Symbol.dispose]()
  }
}
