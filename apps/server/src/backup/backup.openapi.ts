import { closed, oneOf, type RouteDescription, refusals, Type } from '@millrace/openapi'

export const BACKUP_IN_WORDS: RouteDescription = {
  tag: 'Administration',
  summary: 'Begin a backup',
  details: 'It is written while everything goes on; GET /v2/admin/info tells how it goes. The secret key is not in it.',
  access: 'token',
  body: {
    schema: closed({
      log: Type.Optional(
        Type.Boolean({ default: true, description: 'false leaves the log out, with what waits in it.' }),
      ),
    }),
    example: { log: true },
    isOptional: true,
  },
  answers: {
    202: {
      text: 'It has begun.',
      schema: closed({ backup: closed({ file: Type.String(), state: oneOf(['running']) }) }),
      examples: { backup: { backup: { file: 'backup-20260304T091530Z.tar', state: 'running' } } },
    },
    ...refusals({
      400: ['log must be a boolean', 'Unknown member: colour'],
      409: ['A backup is running'],
      507: ['Not enough space for a backup'],
    }),
  },
}
