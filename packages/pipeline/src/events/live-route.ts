import { Readable } from 'node:stream'
import type { Query } from '@millrace/openapi'
import type { FastifyPluginAsync, FastifyRequest } from 'fastify'
import { TAIL_IN_WORDS } from '../http/events.openapi.ts'
import { eventFilterOf } from './event-route.ts'
import type { LiveView } from './live-view.ts'

/** Written ahead of a reader; what comes on top is counted and not kept. */
const MAX_AHEAD_BYTES = 64 * 1024

/**
 * GET /v2/tail: server-sent events, to be registered below /v2.
 *
 * @param mayStay whether whoever made a request could make it again now; asked every second.
 * @see contracts/delivery.md §8 [D639]
 */
export function liveRoute(live: LiveView, mayStay: (request: FastifyRequest) => boolean): FastifyPluginAsync {
  return async (app) => {
    // A HEAD would hold the place of a listener for as long as it likes.
    app.get('/tail', { exposeHeadRoute: false, config: { describe: TAIL_IN_WORDS } }, async (request, reply) => {
      const filter = eventFilterOf(request.query as Query)
      const stream = new Readable({ highWaterMark: MAX_AHEAD_BYTES, read: () => listener.drained() })
      const listener = live.open({
        filter,
        write: (text) => stream.push(text),
        mayStay: () => mayStay(request),
        onEnd: () => stream.push(null),
      })
      stream.on('close', () => listener.end())
      return reply.headers({ 'Content-Type': 'text/event-stream', 'X-Accel-Buffering': 'no' }).send(stream)
    })
  }
}
