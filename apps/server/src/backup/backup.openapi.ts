import { closed, named, oneOf, type RouteDescription, refusals, Type } from '@millrace/openapi'

export const BACKUP_IN_WORDS: RouteDescription = {
  tag: 'Administration',
  summary: 'Begin a backup',
  details:
    'The server keeps running; GET /v2/admin/info shows the progress. The backup does not contain the secret key.',
  access: 'token',
  body: {
    schema: closed({
      log: Type.Optional(
        Type.Boolean({
          default: true,
          description: 'false: without the log; a restore then loses the events that wait in it.',
        }),
      ),
    }),
    example: { log: true },
    isOptional: true,
  },
  answers: {
    202: {
      text: 'Started.',
      schema: closed({ backup: named('StartedBackup', closed({ file: Type.String(), state: oneOf(['running']) })) }),
      examples: { backup: { backup: { file: 'backup-20260304T091530Z.tar', state: 'running' } } },
    },
    ...refusals({
      400: ['log must be a boolean', 'Unknown member: colour'],
      409: ['A backup is running'],
      507: ['Not enough space for a backup'],
    }),
  },
}
