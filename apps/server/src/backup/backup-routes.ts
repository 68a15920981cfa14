import { badRequest, refuseUnknownMembers } from '@millrace/openapi'
import type { JsonObject } from '@millrace/protocol'
import type { FastifyPluginAsync } from 'fastify'
import { BACKUP_IN_WORDS } from './backup.openapi.ts'
import type { BackupRequest, Backups } from './backups.ts'

/** Starts backups; GET /v2/admin/info shows their progress. @see contracts/control-plane.md §10 [D725] */
export function backupRoutes(backups: Backups): FastifyPluginAsync {
  return async (app) => {
    app.post(
      '/admin/backup',
      {
        config: {
          role: 'admin',
          body: 'optional',
          audited: { action: 'create', kind: 'backup' },
          describe: BACKUP_IN_WORDS,
        },
      },
      async (request, reply) => {
        const backup = backups.begin(readRequest(request.body as JsonObject))
        request.audit({ action: 'create', kind: 'backup', resourceId: backup.file, diff: [] })
        return reply.code(202).send({ backup })
      },
    )
  }
}

function readRequest(body: JsonObject): BackupRequest {
  refuseUnknownMembers(body, ['log'])
  const hasLog = Object.hasOwn(body, 'log') ? body['log'] : true
  if (typeof hasLog !== 'boolean') throw badRequest('log must be a boolean')
  return { hasLog }
}
