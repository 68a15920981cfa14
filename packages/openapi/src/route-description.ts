import type { TSchema } from 'typebox'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** What clients are told of the route in /openapi.json and /docs; every route that answers has one. */
    describe?: RouteDescription
  }
}

/** What a request shows to be let in. */
export type Access = 'token' | 'write key' | 'write key in query' | 'metrics token' | 'admin' | 'none'

/**
 * A route as its clients see it. It stands beside the route's registration, as `config.describe`.
 *
 * @see contracts/control-plane.md §10 [D720]
 */
export interface RouteDescription {
  /** Groups routes: `Sources`. */
  readonly tag: string
  /** What it does, in one line. */
  readonly summary: string
  readonly details?: string
  readonly access: Access
  /** The least role of the token; below /v2 it is filled in. */
  readonly role?: string
  /** Shown instead of the registered path, where that is nobody's business: `/inbox/{key}`. */
  readonly path?: string
  /** By name; each tells its meaning as `description`. */
  readonly pathParameters?: Readonly<Record<string, TSchema>>
  readonly query?: Readonly<Record<string, TSchema>>
  readonly requestHeaders?: Readonly<Record<string, TSchema>>
  readonly body?: {
    readonly schema: TSchema
    readonly example: unknown
    readonly isOptional?: boolean
  }
  /** By status. */
  readonly answers: Readonly<Record<number, AnswerDescription>>
}

export interface AnswerDescription {
  readonly text: string
  /** Absent: there is no body. */
  readonly schema?: TSchema
  /** `application/json` unless it is said. */
  readonly mediaType?: string
  readonly examples?: Readonly<Record<string, unknown>>
  readonly headers?: Readonly<Record<string, TSchema>>
}

export interface DescribedRoute {
  /** Upper case. */
  readonly method: string
  /** With parameters as `{id}`. */
  readonly path: string
  readonly description: RouteDescription
}
