import { Readable } from 'node:stream'
import type { Query } from '@millrace/openapi'
import type { FastifyPluginAsync, FastifyRequest } from 'fastify'
import { TAIL_IN_WORDS } from '../http/events.openapi.ts'
import { eventFilterOf } from './event-route.ts'
import type { LiveView } from './live-view.ts'

/** Bytes buffered for a client; further messages are counted and not stored. */
const MAX_AHEAD_BYTES = 64 * 1024

/**
 * GET /v2/tail: server-sent events. Register it below /v2.
 *
 * @param mayStay whether the client of a request is still authorised; called every second.
 * @param begun resolves when the clients get all that happens from then on. Default: they do at once.
 * @see contracts/delivery.md §8 [D639]
 */
export function liveRoute(
  live: LiveView,
  mayStay: (request: FastifyRequest) => boolean,
  begun: () => Promise<void> = async () => {},
): FastifyPluginAsync {
  return async (app) => {
    // A HEAD request would hold the place of a listener without limit.
    app.get('/tail', { exposeHeadRoute: false, config: { describe: TAIL_IN_WORDS } }, async (request, reply) => {
      const filter = eventFilterOf(request.query as Query)
      const stream = new Readable({ highWaterMark: MAX_AHEAD_BYTES, read: () => listener.drained() })
      const listener = live.open({
        filter,
        write: (text) => stream.push(text),
        mayStay: () => mayStay(request),
        onEnd: () => stream.push(null),
      })
      const { socket } = request.raw
      const end = () => listener.end()
      // Other answers have an end, so they still go to a client that has closed its sending half; this one would only wait for it.
      socket.once('end', end)
      stream.on('close', () => {
        // The connection may carry more requests.
        socket.off('end', end)
        end()
      })
      await begun()
      return reply.headers({ 'Content-Type': 'text/event-stream', 'X-Accel-Buffering': 'no' }).send(stream)
    })
  }
}
