import type { DestinationRegistry } from '@millrace/destinations'
import { closed, named, oneOf, type RouteDescription, refusals, Type } from '@millrace/openapi'
import type { JsonObject } from '@millrace/protocol'
import type { FastifyPluginAsync } from 'fastify'
import { NOTHING_TESTED, testConnection } from '../connection-test.ts'
import type { TestApiOptions } from '../test-api-options.ts'
import { askedConfiguration } from './asked-configuration.ts'
import { TrialCalls } from './trial-calls.ts'

const DESTINATION_ID = '3uLMicKvWtFGwbwBkUIwtP0l8lu'

const CONNECTION_TEST_IN_WORDS: RouteDescription = {
  tag: 'Destinations',
  summary: 'Test the address and the credentials of a configuration',
  details:
    'One request without effect at the destination; nothing is saved. With `destinationId` the configuration is a change of that one: what is left out and `********` stand for saved values, and secrets go to another origin only for an admin. `tested` is false where the type has nothing to test with.',
  access: 'token',
  body: {
    schema: named(
      'ConnectionTestWritten',
      closed({
        type: Type.String(),
        config: Type.Record(Type.String(), Type.Unknown()),
        destinationId: Type.Optional(Type.String()),
      }),
    ),
    example: { type: 'WEBHOOK', config: { webhookUrl: 'https://hooks.cinema.example/in' } },
  },
  answers: {
    200: {
      text: 'The result.',
      schema: named(
        'ConnectionTest',
        closed({
          tested: Type.Boolean({ description: 'false: the type has nothing to test with.' }),
          verdict: oneOf(['good', 'doubtful', 'bad', 'unknown'], {
            description: 'good: 2xx or 3xx; doubtful: reached, with another answer below 500; unknown: not tested.',
          }),
          ok: Type.Boolean({ description: 'true for `good` and `unknown`.' }),
          text: Type.String(),
          durationMs: Type.Integer({ minimum: 0 }),
        }),
      ),
      examples: {
        answered: { tested: true, verdict: 'good', ok: true, text: 'Answered 204.', durationMs: 84 },
        missing: {
          tested: true,
          verdict: 'doubtful',
          ok: false,
          text: 'Reached, but it answered 404.',
          durationMs: 84,
        },
        nothing: NOTHING_TESTED,
      },
    },
    ...refusals({
      400: [
        'type is required',
        'Unknown destination type NONE; known are AMPLITUDE, WEBHOOK',
        'config must be an object',
        'Unknown member: colour',
      ],
      404: [`Destination with id ${DESTINATION_ID} not found`],
      422: ['Invalid config'],
      503: ['Service unavailable'],
    }),
  },
}

export interface ConnectionTestOptions
  extends Pick<TestApiOptions, 'configuration' | 'newClient' | 'isReady' | 'clock' | 'version'> {
  readonly destinationTypes: Pick<DestinationRegistry, 'find' | 'names' | 'faultsIn'>
}

/** POST /v2/destinations/test-connection, to be registered below /v2. @see contracts/dashboard.md §4 N6 */
export function connectionTestRoute(options: ConnectionTestOptions): FastifyPluginAsync {
  const { clock, version } = options
  const calls = new TrialCalls(options)
  return async (app) => {
    app.post(
      '/destinations/test-connection',
      { config: { audited: { action: 'test', kind: 'destination' }, describe: CONNECTION_TEST_IN_WORDS } },
      async (request) => {
        const asked = askedConfiguration(request.body as JsonObject, [], options)
        const mayCarry = request.actor.role === 'admin'
        return calls.run(
          () => request.audit({ action: 'test', kind: 'destination', resourceId: asked.saved?.id ?? null, diff: [] }),
          (sender, signal) => testConnection({ ...asked, mayCarry }, { sender, signal, clock, version }),
        )
      },
    )
  }
}
