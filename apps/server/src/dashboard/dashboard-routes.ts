import type { FastifyPluginAsync, FastifyReply } from 'fastify'
import { IMMUTABLE } from '../http/cache-control.ts'
import { DASHBOARD_IN_WORDS } from './dashboard.openapi.ts'
import type { DashboardFiles } from './dashboard-files.ts'

const NONCE_BYTES = 18

export interface DashboardOptions {
  readonly files: DashboardFiles
  readonly random: (bytes: number) => Buffer
}

/**
 * The dashboard: every path returns the same page, and the browser decides what to show.
 *
 * @see contracts/dashboard.md §4 N1, §13 [U1, U19]
 */
export function dashboardRoutes({ files, random }: DashboardOptions): FastifyPluginAsync {
  const answerPage = (reply: FastifyReply) => {
    const nonce = random(NONCE_BYTES).toString('base64')
    reply.headers({ ...pageHeaders(nonce), 'Cache-Control': 'no-store' })
    return reply.type('text/html; charset=utf-8').send(files.page(nonce))
  }
  return async (app) => {
    app.get('/ui', { config: { describe: DASHBOARD_IN_WORDS.start } }, (_request, reply) => answerPage(reply))
    app.get('/ui/*', { config: { describe: DASHBOARD_IN_WORDS.page } }, (_request, reply) => answerPage(reply))
    app.get<{ Params: { name: string } }>(
      '/ui/assets/:name',
      { config: { describe: DASHBOARD_IN_WORDS.asset } },
      async (request, reply) => {
        const asset = await files.asset(request.params.name, request.headers['accept-encoding'])
        if (asset === undefined) return reply.callNotFound()
        reply.headers({
          'Cache-Control': IMMUTABLE,
          'X-Content-Type-Options': 'nosniff',
          Vary: 'Accept-Encoding',
        })
        if (asset.encoding !== undefined) reply.header('Content-Encoding', asset.encoding)
        return reply.type(asset.type).send(asset.bytes)
      },
    )
  }
}

function pageHeaders(nonce: string): Record<string, string> {
  const policy = [
    "default-src 'none'",
    "script-src 'self'",
    `style-src 'self' 'nonce-${nonce}'`,
    "img-src 'self' data:",
    "font-src 'self'",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    'trusted-types default',
  ]
  return {
    'Content-Security-Policy': policy.join('; '),
    'X-Content-Type-Options': 'nosniff',
    'Referrer-Policy': 'no-referrer',
    'Cross-Origin-Opener-Policy': 'same-origin',
  }
}
