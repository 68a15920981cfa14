import type { JsonObject } from '@millrace/protocol'
import { testDestination } from './runs/run.ts'
import type { RunOptions } from './runs/test-run.ts'
import { TimeLimit } from './runs/time-limit.ts'
import type { StageFlags } from './stage-flags.ts'
import type { TestedConfiguration, TestedDestination } from './test-api-options.ts'
import { messageOf } from './test-request.ts'

export type OfflineTestsOptions = Omit<RunOptions, 'limits' | 'sourceClass' | 'configuration'> & {
  readonly timeoutMs: number
}

/** The stages without a server: the same as those of the Test API, but nothing is ever sent. */
export class OfflineTests {
  readonly #options: OfflineTestsOptions

  constructor(options: OfflineTestsOptions) {
    this.#options = options
  }

  /**
   * Tests one destination.
   *
   * @returns its result object, as the Test API answers it.
   * @throws TestRefused for a message that cannot be tested.
   */
  async run(
    destination: TestedDestination,
    message: JsonObject,
    flags: Omit<StageFlags, 'send_to_destination'>,
  ): Promise<JsonObject> {
    const { clock, timeoutMs } = this.#options
    using limit = new TimeLimit(clock, clock.monotonic(), timeoutMs)
    const run = {
      options: {
        ...this.#options,
        configuration: () => UNCONNECTED,
        sourceClass: () => '',
        limits: { maxEventBytes: 0 },
      },
      tester: { tokenId: '', role: 'viewer', note: () => {} },
      flags: { ...flags, send_to_destination: false },
      asked: { force: true, include: new Set<string>(), masksSupplied: true },
      message: messageOf({ message }),
      source: undefined,
      override: undefined,
      client: NOWHERE,
      limit,
    } as const
    return testDestination(run, destination)
  }
}

const UNCONNECTED: TestedConfiguration = {
  sources: new Map(),
  destinations: new Map(),
  connections: new Map(),
  connectionsOf: () => [],
}

const NOWHERE = {
  send: () => {
    throw new Error('sending is not available offline')
  },
  close: async () => {},
}
