import { closed, type RouteDescription, refusals, Time, Type } from '@millrace/openapi'

export const INBOX_IN_WORDS: Record<'show' | 'receive', RouteDescription> = {
  show: {
    tag: 'Quickstart',
    summary: 'List the requests to the built-in inbox',
    details: 'The last 100 requests, newest first; secret headers are masked.',
    access: 'token',
    answers: {
      200: {
        text: 'The requests.',
        schema: closed({
          requests: Type.Array(
            closed({
              at: Time,
              method: Type.String(),
              headers: Type.Record(Type.String(), Type.String()),
              body: Type.Unknown({ description: 'Parsed if it is JSON.' }),
            }),
          ),
        }),
        examples: {
          requests: {
            requests: [
              {
                at: '2026-03-04T09:15:32.010Z',
                method: 'POST',
                headers: { 'content-type': 'application/json' },
                body: { type: 'track', event: 'Seat Reserved', messageId: 'm-88' },
              },
            ],
          },
        },
      },
      ...refusals({ 401: ['Invalid Authorization Header'] }),
    },
  },
  receive: {
    tag: 'Quickstart',
    summary: 'Receive requests of the quickstart destination',
    details: 'The key is secret: only the configuration of the destination contains it.',
    access: 'none',
    // The registered path holds the key.
    path: '/inbox/{key}',
    body: { schema: Type.Unknown(), example: { type: 'track', event: 'Seat Reserved' }, isOptional: true },
    answers: { 200: { text: '`OK`', schema: Type.String(), mediaType: 'text/plain', examples: { ok: 'OK' } } },
  },
}
