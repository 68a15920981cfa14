import { EgressRules, HostNames, OutboundClient } from '@millrace/delivery'
import { type Clock, systemClock } from '@millrace/std'

/** After this real time without a new call, a test that never settles reports what is still running. */
const RESTLESS_MS = 15_000
const MAX_WAIT_MS = 1

export type ClientOptions = Partial<Omit<ConstructorParameters<typeof OutboundClient>[0], 'clock' | 'rules'>>

/** Calls, reads and writes under way: a test advances its manual clock only when none is left. */
export class OpenWork {
  #calls = 0
  #sent = 0
  #pending = 0
  #wake: () => void = () => {}

  /** A client for 127.0.0.1 whose calls are counted. */
  client(options: ClientOptions, clock: Clock): OutboundClient {
    return new CountedClient(options, clock, (by) => {
      this.#calls += by
      if (by > 0) this.#sent++
      else this.#wake()
    })
  }

  /** The same object; its promises are counted until they settle. */
  watched<T extends object>(target: T): T {
    return new Proxy(target, {
      get: (_, name) => {
        const member: unknown = Reflect.get(target, name, target)
        if (typeof member === 'object' && member !== null) return this.watched(member)
        if (typeof member !== 'function') return member
        return (...args: unknown[]) => {
          const result: unknown = member.apply(target, args)
          if (!(result instanceof Promise) || name === 'flush') return result
          this.#pending++
          return result.finally(() => {
            this.#pending--
            this.#wake()
          })
        }
      },
    })
  }

  /**
   * Waits until two turns in a row find no work under way.
   *
   * @param held number of calls that sinks hold open: they do not count.
   * @param flush writes what waits for the next flush; runs after each quiet turn.
   */
  async quiet(held: () => number, isScanning: () => boolean, flush: () => Promise<void>): Promise<void> {
    let since = performance.now()
    let sent = this.#sent
    let isBusy = false
    for (let quietTurns = 0; quietTurns < 2; ) {
      // A thread or a process is at work: a loop without a pause would take the processor from it.
      if (isBusy) await this.#woken()
      await new Promise((resolve) => setImmediate(resolve))
      isBusy = this.#calls !== held() || this.#pending > 0 || isScanning()
      if (isBusy) {
        quietTurns = 0
        if (this.#sent !== sent) {
          sent = this.#sent
          since = performance.now()
        }
        if (performance.now() - since < RESTLESS_MS) continue
        throw new Error(
          `never quiet: ${this.#calls} calls, ${held()} held, ${this.#pending} reads and writes under way`,
        )
      }
      await flush()
      quietTurns++
    }
  }

  /** Until a call, a read or a write ends. A scan and a sink do not report their end, so the wait is short. */
  async #woken(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    const timer = setTimeout(resolve, MAX_WAIT_MS)
    this.#wake = resolve
    await promise
    clearTimeout(timer)
  }
}

const names = new HostNames({ clock: systemClock })

class CountedClient extends OutboundClient {
  readonly #count: (by: number) => void

  constructor(options: ClientOptions, clock: Clock, count: (by: number) => void) {
    const rules = new EgressRules({ allow: '127.0.0.1', deny: undefined, listenHost: '127.0.0.1' })
    super({ lookup: names.forDestination(), ...options, rules, clock })
    this.#count = count
  }

  override send(...[request, onDone]: Parameters<OutboundClient['send']>) {
    this.#count(1)
    return super.send(request, (result) => {
      this.#count(-1)
      onDone(result)
    })
  }
}
