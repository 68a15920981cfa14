import { type Call, isEvent, isPut } from './call.ts'
import { utf8Length } from './utf8.ts'

const MOST_CALLS = 1_000
const MOST_BYTES = 512 * 1024

/** Calls held until the client is ready and allowed, in their order. Bound: 1,000 calls and 512 KiB of JSON. */
export class DeferredCalls {
  private held: { readonly call: Call; readonly bytes: number }[] = []
  private bytes = 0

  /** @returns false when it does not fit: the new call is the one that is lost. */
  add(call: Call): boolean {
    const bytes = utf8Length(JSON.stringify(call))
    if (this.held.length >= MOST_CALLS || this.bytes + bytes > MOST_BYTES) return false
    this.held.push({ call, bytes })
    this.bytes += bytes
    return true
  }

  /** Puts these behind the leading put… and reset calls: they must reach the first event. Not bounded: at most two. */
  addAfterLeading(calls: readonly Call[]): void {
    const leading = this.held.findIndex(({ call }) => isEvent(call))
    const at = leading === -1 ? this.held.length : leading
    this.held.splice(at, 0, ...calls.map((call) => ({ call, bytes: 0 })))
  }

  /** The calls before the first event. */
  takeLeading(): Call[] {
    const first = this.held.findIndex(({ call }) => isEvent(call))
    return this.take(first === -1 ? this.held.length : first)
  }

  takeAll(): Call[] {
    return this.take(this.held.length)
  }

  discardEvents(): void {
    this.keep((call) => !isEvent(call))
  }

  /** What reset(true) undoes: identify, alias and put… calls. */
  discardIdentifiers(): void {
    this.keep((call) => !isPut(call) && call.kind !== 'identify' && call.kind !== 'alias')
  }

  private take(count: number): Call[] {
    const taken = this.held.splice(0, count)
    for (const { bytes } of taken) this.bytes -= bytes
    return taken.map(({ call }) => call)
  }

  private keep(isKept: (call: Call) => boolean): void {
    this.held = this.held.filter(({ call }) => isKept(call))
    this.bytes = this.held.reduce((sum, { bytes }) => sum + bytes, 0)
  }
}
