import type { ControlPlane, Snapshot } from '@millrace/control-plane'
import type { SpannedConfiguration } from '@millrace/pipeline/cluster'
import type { Clock, Timer } from '@millrace/std'
import type { ServerLogger } from '../logger.ts'

const TRY_AGAIN_MS = 1_000

interface FollowedConfigurationOptions {
  readonly controlPlane: Pick<ControlPlane, 'snapshot' | 'catchUp'>
  readonly spansOf: (snapshot: Snapshot) => Promise<SpannedConfiguration>
  /** Takes effect in this process; resolves then. */
  readonly apply: (configured: SpannedConfiguration) => Promise<void>
  readonly clock: Clock
  readonly logger: ServerLogger
}

/** Applies each configuration of the control plane in this process, one after the other; what failed is applied again. */
export class FollowedConfiguration {
  readonly #options: FollowedConfigurationOptions
  #last: Promise<unknown> = Promise.resolve()
  #retry: Timer | undefined
  #isStopped = false

  constructor(options: FollowedConfigurationOptions) {
    this.#options = options
  }

  /** @throws if it could not be applied; it is tried again. */
  apply(snapshot: Snapshot): Promise<void> {
    const done = this.#last.then(async () => {
      const { spansOf, apply } = this.#options
      await apply(await spansOf(snapshot))
    })
    this.#last = done.catch(() => this.#tryAgain(snapshot))
    return done
  }

  /** The newest stored configuration. @throws if it cannot be read now. */
  async newest(): Promise<SpannedConfiguration> {
    const { controlPlane, spansOf } = this.#options
    await controlPlane.catchUp()
    return spansOf(controlPlane.snapshot())
  }

  async stop(): Promise<void> {
    this.#isStopped = true
    this.#retry?.cancel()
    await this.#last
  }

  #tryAgain(failed: Snapshot): void {
    const { controlPlane, clock, logger } = this.#options
    if (this.#isStopped) return
    this.#retry?.cancel()
    this.#retry = clock.setTimer(() => {
      // A newer one is applied for itself.
      if (controlPlane.snapshot() !== failed) return
      this.apply(failed).then(
        () => logger.info({ revision: failed.revision }, 'delivery follows the configuration again'),
        () => {},
      )
    }, TRY_AGAIN_MS)
  }
}
