import type { IncomingMessage, ServerResponse } from 'node:http'
import type { DescribedRoute } from '@millrace/openapi'
import type { FastifyPluginAsync } from 'fastify'
import type { ProcessRole } from '../config/roles.ts'

/** One row of `checks` in /health. */
export interface HealthCheck {
  /** What is wrong in a few words; undefined when all is well. */
  readonly trouble: () => string | undefined | Promise<string | undefined>
  /** What does not go on while something is wrong; left out: everything does. */
  readonly stops?: 'accepting' | 'routing'
}

/**
 * A part of the product. It takes what it needs as named inputs and gives the members of this interface, which others
 * loop over, beside what it gives to parts that are opened after it. Disposing of it closes what it has opened.
 *
 * @see ARCHITECTURE.md, "Parts"
 */
export interface Part extends AsyncDisposable {
  /** The role of a process that serves it; left out: every process. */
  readonly role?: ProcessRole
  /** At the root. */
  readonly routes?: readonly FastifyPluginAsync[]
  /** Below /v2, behind its credentials. */
  readonly v2Routes?: readonly FastifyPluginAsync[]
  /**
   * Answers routes without Fastify. It is asked before a client that holds its body back is told to send it, and tells it
   * where it wants one.
   *
   * @returns whether the request was for one of them.
   */
  readonly handle?: (request: IncomingMessage, response: ServerResponse) => boolean
  /** What the OpenAPI document says of the routes that `handle` answers. */
  readonly described?: readonly DescribedRoute[]
  /** By name. */
  readonly checks?: Readonly<Record<string, HealthCheck>>
  /** Metric families in the text format of Prometheus. */
  readonly metrics?: () => readonly string[] | Promise<readonly string[]>
  /** Takes up nothing new, and finishes what is in progress until `deadline`. */
  readonly drain?: (deadline: Promise<void>) => Promise<void>
}
