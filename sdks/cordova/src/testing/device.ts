import type { Bridge, Signal } from '../core/bridge.ts'

/** What a scenario does besides calling the bridge. An engine passes the scenarios by being put behind one of these. */
export interface Device extends AsyncDisposable {
  /** Calls go to the process that runs; after a kill the next one starts another. */
  readonly bridge: Omit<Bridge, 'listen'>
  /** Everything gone, the clock at its start. */
  reset(random: number): Promise<void>
  now(): Promise<number>
  advance(ms: number): Promise<void>
  moveClock(ms: number): Promise<void>
  network(online: boolean): Promise<void>
  /** Resolves once the engine's own drain has ended. */
  stop(): Promise<void>
  start(): Promise<void>
  kill(): Promise<void>
  deleteStore(): Promise<void>
  deleteGuard(): Promise<void>
  fault(storage: string | null): Promise<void>
  /** Names of the events in the queue, oldest first. */
  rows(): Promise<readonly string[]>
  values(): Promise<Readonly<Record<string, string>>>
  signals(): Promise<readonly Signal[]>
}
