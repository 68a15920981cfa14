import type { Job } from '@millrace/delivery'
import { limitOf, nextPath, notFound, type Query, rowBefore, rowCursor } from '@millrace/openapi'
import type { JsonObject } from '@millrace/protocol'
import type { FastifyInstance, FastifyPluginAsync, FastifyRequest } from 'fastify'
import { jobJson } from './job-json.ts'
import { LETTER_ACTIONS_IN_WORDS as LETTERS, REPLAYS_IN_WORDS } from './jobs.openapi.ts'
import type { Jobs } from './jobs.ts'
import { readLetterRequest } from './letters/letter-selection.ts'
import { readLogRequest } from './log/log-request.ts'

const CURSOR = 'rp'

/**
 * Routes below /v2 that start and control jobs. The caller that registers them has checked credentials and role, and
 * writes their entries to the audit log.
 *
 * @see contracts/delivery.md §6, §7, §10
 */
export function jobRoutes(jobs: Jobs): FastifyPluginAsync {
  return async (app) => {
    letterRoutes(app, jobs)
    replayRoutes(app, jobs)
  }
}

/** What people have done with dead letters. */
function letterRoutes(app: FastifyInstance, jobs: Jobs): void {
  const discard = { action: 'discard', kind: 'dead-letter' } as const
  app.delete(
    '/dead-letters/:id',
    { config: { audited: discard, describe: LETTERS.discard } },
    async (request, reply) => {
      const id = idOf(request)
      if (!(await jobs.discard(id))) throw notFound('Dead letter', id)
      request.audit({ ...discard, resourceId: id, diff: [] })
      return reply.code(204).send()
    },
  )

  const replay = { action: 'replay', kind: 'dead-letter' } as const
  app.post(
    '/dead-letters/:id/replay',
    { config: { audited: replay, body: 'optional', describe: LETTERS.replay } },
    async (request, reply) => {
      const id = idOf(request)
      const job = await jobs.replay(id, request.author.actor)
      if (job === undefined) throw notFound('Dead letter', id)
      request.audit({ ...replay, resourceId: id, diff: [{ path: '/replayId', from: null, to: job.id }] })
      return reply.code(202).send({ replayId: job.id })
    },
  )

  for (const kind of ['replay', 'discard'] as const) {
    const audited = { action: kind, kind: 'replay' } as const
    app.post(
      `/dead-letters/${kind}`,
      { config: { audited, describe: LETTERS[`${kind}Many`] } },
      async (request, reply) => {
        const asked = readLetterRequest(kind, request.body as JsonObject)
        const job = await jobs.create({ kind, ...asked, createdBy: request.author.actor })
        if (!job.isDryRun) request.audit({ ...audited, resourceId: job.id, diff: askedFor(request) })
        return reply.code(202).send({ replayId: job.id })
      },
    )
  }
}

/** Replays of the log, and the state of all jobs. */
function replayRoutes(app: FastifyInstance, jobs: Jobs): void {
  const shown = (job: Job) => jobJson(job, jobs.isDamaged(job))
  const replayLog = { action: 'create', kind: 'replay' } as const
  app.post(
    '/replays',
    { config: { audited: replayLog, describe: REPLAYS_IN_WORDS.create } },
    async (request, reply) => {
      const body = request.body as JsonObject
      const job = await jobs.createOverLog(readLogRequest(body), request.author.actor)
      if (!job.isDryRun) {
        const diff = Object.entries(body).map(([name, value]) => ({ path: `/${name}`, from: null, to: value }))
        request.audit({ ...replayLog, resourceId: job.id, diff })
      }
      return reply.code(202).send({ replay: shown(job) })
    },
  )

  app.get('/replays', { config: { describe: REPLAYS_IN_WORDS.list } }, async (request) => {
    const query = request.query as Query
    const limit = limitOf(query)
    const before = rowBefore(query, CURSOR)
    const { jobs: page, next } = await jobs.list(limit, before)
    const cursor = rowCursor(CURSOR, next)
    const total = before === null && next === null ? page.length : null
    return { replays: page.map(shown), paging: { total, next: nextPath('/v2/replays', query, cursor) } }
  })

  for (const action of ['pause', 'resume', 'cancel'] as const) {
    const audited = { action, kind: 'replay' } as const
    app.post(
      `/replays/:id/${action}`,
      { config: { audited, body: 'optional', describe: REPLAYS_IN_WORDS[action] } },
      async (request) => {
        const id = idOf(request)
        const job = await jobs[action](id)
        request.audit({ ...audited, resourceId: id, diff: [] })
        return { replay: shown(job) }
      },
    )
  }

  app.get('/replays/:id', { config: { describe: REPLAYS_IN_WORDS.get } }, async (request) => {
    const id = idOf(request)
    const job = await jobs.get(id)
    if (job === undefined) throw notFound('Replay', id)
    return { replay: shown(job) }
  })
}

function idOf({ params }: FastifyRequest): string {
  return (params as { id: string }).id
}

/** For the audit log: the filter, or the number of ids. */
function askedFor({ body }: FastifyRequest) {
  const { ids, filter = null } = body as JsonObject
  if (Array.isArray(ids)) return [{ path: '/ids', from: null, to: ids.length }]
  return [{ path: '/filter', from: null, to: filter }]
}
