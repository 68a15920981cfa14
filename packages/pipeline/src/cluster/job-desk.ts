import type { Job } from '@millrace/delivery'
import { ApiError } from '@millrace/openapi'
import { type JobRequest, Jobs, type JobsOptions } from '../jobs/jobs.ts'
import type { LogRequest } from '../jobs/log/log-request.ts'
import type { ClusterLog } from './cluster-log.ts'

const MAX_UNFINISHED = 1_000

export type JobDeskOptions = Omit<JobsOptions, 'shardOf' | 'shards' | 'partitions' | 'flush' | 'isWorking' | 'log'> & {
  readonly log: ClusterLog
}

/** Jobs as a control process sees them: it creates and steers them, and the owners of the shards work at them. */
export class JobDesk extends Jobs {
  readonly #log: ClusterLog
  readonly #store: JobDeskOptions['store']

  constructor(options: JobDeskOptions) {
    const shardOf = () => {
      throw new Error('a control process owns no shard')
    }
    super({ ...options, isWorking: false, shardOf, shards: () => [], partitions: () => [], flush: async () => {} })
    this.#log = options.log
    this.#store = options.store
  }

  override async createOverLog(request: LogRequest, createdBy: string): Promise<Job> {
    await this.#refuseMany()
    // The replay ends where the log ends now, whoever appended.
    await this.#log.readEnds()
    return super.createOverLog(request, createdBy)
  }

  override async create(request: JobRequest): Promise<Job> {
    await this.#refuseMany()
    return super.create(request)
  }

  override async replay(letterId: string, createdBy: string): Promise<Job | undefined> {
    await this.#refuseMany()
    return super.replay(letterId, createdBy)
  }

  async #refuseMany(): Promise<void> {
    const unfinished = await this.#store.jobs.unfinished()
    if (unfinished.length >= MAX_UNFINISHED) throw new ApiError('conflict', 'Too many unfinished replays')
  }
}
