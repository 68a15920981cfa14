import type { IncomingMessage, ServerResponse } from 'node:http'
import type { DescribedRoute } from '@millrace/openapi'
import type { FastifyPluginAsync } from 'fastify'
import type { ProcessRole } from '../config/roles.ts'

/** One row of `checks` in /health. */
export interface HealthCheck {
  /** The problem in a few words; undefined if there is none. */
  readonly trouble: () => string | undefined | Promise<string | undefined>
  /** What stops during the problem; omitted: nothing. */
  readonly stops?: 'accepting' | 'routing'
}

/**
 * A part of the product. It takes named inputs. The server loops over the members of this interface; later parts may use
 * further members. Disposing a part closes what it has opened.
 *
 * @see ARCHITECTURE.md, "Parts"
 */
export interface Part extends AsyncDisposable {
  /** Process role that runs this part; omitted: every process runs it. */
  readonly role?: ProcessRole
  /** Routes at the root. */
  readonly routes?: readonly FastifyPluginAsync[]
  /** Routes under /v2, which require its credentials. */
  readonly v2Routes?: readonly FastifyPluginAsync[]
  /**
   * Answers routes without Fastify. It runs before the server answers `Expect: 100-continue`, and sends the
   * `100 Continue` itself if it wants the body.
   *
   * @returns whether it has handled the request.
   */
  readonly handle?: (request: IncomingMessage, response: ServerResponse) => boolean
  /** OpenAPI descriptions of the routes that `handle` answers. */
  readonly described?: readonly DescribedRoute[]
  /** Health checks by name. */
  readonly checks?: Readonly<Record<string, HealthCheck>>
  /** Metric families in the text format of Prometheus. */
  readonly metrics?: () => readonly string[] | Promise<readonly string[]>
  /** Takes no new work, and finishes work in progress until `deadline`. */
  readonly drain?: (deadline: Promise<void>) => Promise<void>
}
