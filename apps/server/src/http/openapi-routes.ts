import { docsPage, openApiDocument, type RouteBook, type RouteDescription, Type } from '@millrace/openapi'
import type { FastifyPluginAsync } from 'fastify'
import { VERSION } from '../version.ts'

/** In display order; other tags follow. */
const TAGS = {
  Ingest: 'Send events. The write key identifies the source.',
  Sources: 'Apps and services that send events.',
  Destinations: 'Tools that receive events.',
  Connections: 'Each connects a source to a destination.',
  'Test API': 'Run one message through every stage, without storing it.',
  Transformations: 'User code that changes events on their way to a destination, and its libraries.',
  Configuration: 'The whole configuration as one document.',
  Credentials: 'Secrets for user code.',
  Events: 'Accepted events and their outcomes.',
  'Dead letters': 'Events that could not be delivered, with their payloads.',
  Accounts: 'Users and access tokens.',
  Administration: 'The server as a whole.',
  Dashboard: 'The web interface.',
  Status: 'For monitoring and load balancers.',
  Quickstart: 'The built-in inbox of a first start.',
  Documentation: 'This document.',
}

const DESCRIPTION = `Every route of this server.

Routes below \`/v2\` take a personal access token: \`Authorization: Bearer mr_pat_…\`. Ingest routes take the write key of a \
source as the user name of HTTP Basic. Errors below \`/v2\` are \`{"error": text, "code": word, "details": object or null}\`. \
A path that is not here answers 404 \`Not Found\`, another method than those here 405 \`Method Not Allowed\` with \`Allow\`. \
HEAD is answered wherever GET is, but for streams.`

const IN_WORDS: Record<'document' | 'page', RouteDescription> = {
  document: {
    tag: 'Documentation',
    summary: 'This document, as OpenAPI 3.1',
    access: 'none',
    answers: {
      200: {
        text: 'The document.',
        schema: Type.Object({ openapi: Type.String() }),
        examples: { start: { openapi: '3.1.1' } },
      },
    },
  },
  page: {
    tag: 'Documentation',
    summary: 'This document as a page',
    access: 'none',
    answers: { 200: { text: 'The page.', schema: Type.String(), mediaType: 'text/html' } },
  },
}

/**
 * GET /openapi.json and GET /docs, without credentials: they describe routes and show no data.
 *
 * @param book contains every route once the server is ready.
 * @see contracts/control-plane.md §10 [D720]
 */
export function openApiRoutes(book: RouteBook): FastifyPluginAsync {
  return async (app) => {
    let made: { json: string; page: { html: string; policy: string } } | undefined
    const ready = () => {
      if (made === undefined) {
        const document = openApiDocument(
          { title: 'Millrace', version: VERSION, description: DESCRIPTION, tags: TAGS },
          book.described(),
        )
        made = { json: JSON.stringify(document), page: docsPage(document) }
      }
      return made
    }
    app.addHook('onRequest', async (_request, reply) => {
      reply.headers({ 'Cache-Control': 'no-cache', 'X-Content-Type-Options': 'nosniff' })
    })
    app.get('/openapi.json', { config: { describe: IN_WORDS.document } }, async (_request, reply) =>
      reply.type('application/json; charset=utf-8').send(ready().json),
    )
    app.get('/docs', { config: { describe: IN_WORDS.page } }, async (_request, reply) => {
      const { html, policy } = ready().page
      reply.headers({ 'Content-Security-Policy': policy, 'Referrer-Policy': 'no-referrer' })
      return reply.type('text/html; charset=utf-8').send(html)
    })
  }
}
