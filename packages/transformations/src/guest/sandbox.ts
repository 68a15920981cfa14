import ivm from 'isolated-vm'
import { hostCalls, type RunDeps } from './host-calls.ts'
import type { HostCall } from './realm/run-program.ts'
import { type BareRealm, bareRealm, Realm } from './realm.ts'
import type { StrippedVersion } from './versions.ts'

/** A destination's sandbox: an isolate with a heap of its own, in which each version has a realm. */
export class Sandbox {
  /** What the run that is under way may ask of its deps; a sandbox runs one batch at a time. */
  deps: RunDeps | undefined
  readonly #isolate: ivm.Isolate
  readonly #host: HostCall
  readonly #realms = new Map<string, Realm>()
  /** On the monotonic clock: until when the current stretch may compute, in whichever realm. */
  #deadline = 0
  /** Made ahead for the version that comes first. */
  #ready: BareRealm | undefined

  constructor(memoryMb: number) {
    this.#isolate = new ivm.Isolate({ memoryLimit: memoryMb })
    this.#host = hostCalls(() => this.deps)
  }

  /** A stretch begins: it may compute for this long. */
  allow(ms: number): void {
    this.#deadline = performance.now() + ms
  }

  /** Does now what the first version's realm would have to wait for. */
  prepare(): BareRealm {
    this.#ready ??= bareRealm(this.#isolate, this.#host)
    return this.#ready
  }

  /** The version's realm, made on first use. Realms of versions that are no longer in the list are given up. */
  realm(version: StrippedVersion, current: readonly string[]): Realm {
    for (const [versionId, realm] of this.#realms) {
      if (current.includes(versionId)) continue
      this.#realms.delete(versionId)
      realm.release()
    }
    let realm = this.#realms.get(version.versionId)
    if (realm === undefined) {
      realm = new Realm(this.#isolate, version, this.prepare(), () => this.#deadline - performance.now())
      this.#ready = undefined
      this.#realms.set(version.versionId, realm)
    }
    return realm
  }

  /** A realm that is found in a state that nobody can use is made anew by the next run. */
  forget(versionId: string): void {
    this.#realms.get(versionId)?.release()
    this.#realms.delete(versionId)
  }

  get isDisposed(): boolean {
    return this.#isolate.isDisposed
  }

  /** Bytes of its heap and of what it holds outside of it. */
  size(): number {
    const { total_heap_size: heap, externally_allocated_size: outside } = this.#isolate.getHeapStatisticsSync()
    return heap + outside
  }

  close(): void {
    if (!this.#isolate.isDisposed) this.#isolate.dispose()
  }
}
