import { ApiError, refusals } from '@millrace/openapi'
import type { FastifyPluginAsync } from 'fastify'
import type { Part } from '../parts/part.ts'

const REASON = 'Back up Postgres'

/** A cluster makes no backups: Postgres is what is backed up. @see contracts/cluster.md §13 [K22] */
export function noBackups(): Part {
  return { role: 'control', v2Routes: [refusedBackup], [Symbol.asyncDispose]: async () => {} }
}

const refusedBackup: FastifyPluginAsync = async (app) => {
  app.post('/admin/backup', {
    config: {
      ...{ role: 'admin', body: 'optional', audited: { action: 'create', kind: 'backup' } },
      describe: {
        ...{ tag: 'Administration', summary: 'Create a backup', details: `${REASON}.`, access: 'token' },
        answers: refusals({ 409: [REASON] }),
      },
    },
    handler: async () => {
      throw new ApiError('conflict', REASON)
    },
  })
}
