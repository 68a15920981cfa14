import { type DestinationModule, overriddenConfig, type RemoteField } from '@millrace/destinations'
import { ApiError, closed, named, type RouteDescription, refusals, Type } from '@millrace/openapi'
import { remoteFieldOptions } from '@millrace/pipeline'
import { isJsonObject, type JsonObject } from '@millrace/protocol'
import type { FastifyPluginAsync } from 'fastify'
import { maskingOf } from '../shown/shown-report.ts'
import type { TestApiOptions, TestClient } from '../test-api-options.ts'
import { type AskedConfigurationOptions, askedConfiguration } from './asked-configuration.ts'
import { TrialCalls } from './trial-calls.ts'

const FIELD_OPTIONS_IN_WORDS: RouteDescription = {
  tag: 'Destinations',
  summary: 'List the choices that a service has for a field of a mapping',
  details:
    'For fields of the destination catalog with `dynamic` (`uiConfig.actions`): the service is asked with the given configuration, and nothing is saved. `config` and `destinationId` are as for a connection test. With `dynamic` `keys` the choices are names of members.',
  access: 'token',
  body: {
    schema: named(
      'FieldOptionsWanted',
      closed({
        type: Type.String(),
        config: Type.Record(Type.String(), Type.Unknown()),
        destinationId: Type.Optional(Type.String()),
        action: Type.String(),
        field: Type.String(),
        values: Type.Optional(
          Type.Record(Type.String(), Type.Unknown(), { description: 'Values of the mapping that choices depend on.' }),
        ),
        page: Type.Optional(Type.String({ description: '`nextPage` of an earlier answer.' })),
      }),
    ),
    example: {
      type: 'CATALOG_KLAVIYO',
      config: { api_key: 'pk_example' },
      action: 'upsertProfile',
      field: 'list_id',
    },
  },
  answers: {
    200: {
      text: 'The choices.',
      schema: named(
        'FieldOptions',
        closed({
          choices: Type.Array(closed({ label: Type.String(), value: Type.String() }), { maxItems: 1000 }),
          nextPage: Type.Union([Type.String(), Type.Null()]),
          error: Type.Union([Type.String(), Type.Null()], { description: 'Why the service listed none.' }),
        }),
      ),
      examples: {
        listed: { choices: [{ label: 'Newsletter', value: 'Xy12ab' }], nextPage: null, error: null },
        refused: { choices: [], nextPage: null, error: 'Unauthorized' },
      },
    },
    ...refusals({
      400: [
        'type is required',
        'Unknown destination type NONE; known are AMPLITUDE, WEBHOOK',
        'config must be an object',
        'action is required',
        'field is required',
        'values must be an object',
        'upsertProfile.email has no choices that the service lists',
        'Unknown member: colour',
      ],
      404: ['Destination with id 3uLMicKvWtFGwbwBkUIwtP0l8lu not found'],
      422: ['Invalid config'],
      503: ['Service unavailable'],
    }),
  },
}

export interface FieldOptionsOptions
  extends AskedConfigurationOptions,
    Pick<TestApiOptions, 'newClient' | 'isReady' | 'clock' | 'version'> {}

/** POST /v2/destinations/field-options, to be registered below /v2. @see contracts/destination-catalog.md §10 */
export function fieldOptionsRoute(options: FieldOptionsOptions): FastifyPluginAsync {
  const calls = new TrialCalls(options)
  return async (app) => {
    app.post(
      '/destinations/field-options',
      { config: { audited: { action: 'test', kind: 'destination' }, describe: FIELD_OPTIONS_IN_WORDS } },
      async (request) => {
        const body = request.body as JsonObject
        const asked = askedConfiguration(body, ['action', 'field', 'values', 'page'], options)
        const field = askedField(body)
        const mayCarry = request.actor.role === 'admin'
        return calls.run(
          () => request.audit({ action: 'test', kind: 'destination', resourceId: asked.saved?.id ?? null, diff: [] }),
          (sender, signal) => fieldOptions({ ...asked, mayCarry }, field, { ...options, sender, signal }),
        )
      },
    )
  }
}

interface Asked {
  readonly module: DestinationModule
  readonly config: JsonObject
  readonly saved: { readonly config: JsonObject } | undefined
  /** Whether saved secrets may be sent to another origin. */
  readonly mayCarry: boolean
}

/** @throws ApiError if the field has no choices to be listed. */
async function fieldOptions(
  { module, config, saved, mayCarry }: Asked,
  field: RemoteField,
  call: Pick<FieldOptionsOptions, 'clock' | 'version'> & { sender: TestClient; signal: AbortSignal },
) {
  const noChoices = new ApiError('bad_request', `${field.action}.${field.name} has no choices that the service lists`)
  if (module.remote === undefined) throw noChoices
  const override = overriddenConfig(module, saved?.config ?? {}, config, mayCarry)
  const run = {
    destinationId: 'test',
    config: override.config,
    userAgent: `Millrace-Test/${call.version}`,
    isUserAgentAdded: true,
  }
  const tried = { run, savedConfig: saved?.config ?? override.config }
  const listed = await remoteFieldOptions(module, tried, field, call)
  if (listed === undefined) throw noChoices
  const { options, derivedSecrets } = listed
  const masking = maskingOf(module, saved?.config ?? {}, override, { usedCredentials: [], derivedSecrets }, true)
  if ('failed' in options) {
    const { status, text } = options.failed
    return { choices: [], nextPage: null, error: masking.text(text === '' ? `answered ${status}` : text) }
  }
  return { choices: options.choices, nextPage: options.nextPage ?? null, error: null }
}

/** @throws ApiError */
function askedField({ action, field, values = {}, page }: JsonObject): RemoteField {
  if (typeof action !== 'string' || action === '') throw new ApiError('bad_request', 'action is required')
  if (typeof field !== 'string' || field === '') throw new ApiError('bad_request', 'field is required')
  if (!isJsonObject(values)) throw new ApiError('bad_request', 'values must be an object')
  return { action, name: field, values, ...(typeof page === 'string' ? { page } : {}) }
}
