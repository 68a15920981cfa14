import { type DestinationModule, overriddenConfig, type RemoteField } from '@millrace/destinations'
import { ApiError, closed, named, type RouteDescription, refusals, Type } from '@millrace/openapi'
import { remoteFieldOptions } from '@millrace/pipeline'
import { isJsonObject, type JsonObject } from '@millrace/protocol'
import type { FastifyPluginAsync } from 'fastify'
import { type AskedConfigurationOptions, askedConfiguration } from './asked-configuration.ts'
import { Places } from './places.ts'
import { maskingOf } from './shown-report.ts'
import type { TestApiOptions } from './test-api-options.ts'
import { TimeLimit } from './time-limit.ts'

const PLACE_WAIT_MS = 10_000
const MAX_WAITING = 100
const AT_ONCE = 4
const TIMEOUT_MS = 30_000

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
  const { clock } = options
  const places = new Places({ clock, count: AT_ONCE, waitMs: PLACE_WAIT_MS, waiting: MAX_WAITING })
  return async (app) => {
    app.post(
      '/destinations/field-options',
      { config: { audited: { action: 'test', kind: 'destination' }, describe: FIELD_OPTIONS_IN_WORDS } },
      async (request) => {
        const body = request.body as JsonObject
        const asked = askedConfiguration(body, ['action', 'field', 'values', 'page'], options)
        const field = askedField(body)
        const giveBack = options.isReady() ? await places.take() : undefined
        if (giveBack === undefined) throw new ApiError('unavailable', 'Service unavailable')
        request.audit({ action: 'test', kind: 'destination', resourceId: asked.saved?.id ?? null, diff: [] })
        try {
          return await fieldOptions(asked, field, request.actor.role === 'admin', options)
        } finally {
          giveBack()
        }
      },
    )
  }
}

interface Asked {
  readonly module: DestinationModule
  readonly config: JsonObject
  readonly saved: { readonly config: JsonObject } | undefined
}

/** @throws ApiError if the field has no choices to be listed. */
async function fieldOptions(
  { module, config, saved }: Asked,
  field: RemoteField,
  mayCarry: boolean,
  { newClient, clock, version }: FieldOptionsOptions,
) {
  const noChoices = new ApiError('bad_request', `${field.action}.${field.name} has no choices that the service lists`)
  if (module.remote === undefined) throw noChoices
  const override = overriddenConfig(module, saved?.config ?? {}, config, mayCarry)
  const run = {
    destinationId: 'test',
    config: override.config,
    userAgent: `Millrace-Test/${version}`,
    isUserAgentAdded: true,
  }
  const sender = newClient()
  using limit = new TimeLimit(clock, clock.monotonic(), TIMEOUT_MS)
  try {
    const tried = { run, savedConfig: saved?.config ?? override.config }
    const listed = await remoteFieldOptions(module, tried, field, { sender, signal: limit.signal, clock })
    if (listed === undefined) throw noChoices
    const { options, derivedSecrets } = listed
    const masking = maskingOf(module, saved?.config ?? {}, override, { usedCredentials: [], derivedSecrets }, true)
    if ('failed' in options) {
      const { status, text } = options.failed
      return { choices: [], nextPage: null, error: masking.text(text === '' ? `answered ${status}` : text) }
    }
    return { choices: options.choices, nextPage: options.nextPage ?? null, error: null }
  } finally {
    await sender.close()
  }
}

/** @throws ApiError */
function askedField({ action, field, values = {}, page }: JsonObject): RemoteField {
  if (typeof action !== 'string' || action === '') throw new ApiError('bad_request', 'action is required')
  if (typeof field !== 'string' || field === '') throw new ApiError('bad_request', 'field is required')
  if (!isJsonObject(values)) throw new ApiError('bad_request', 'values must be an object')
  return { action, name: field, values, ...(typeof page === 'string' ? { page } : {}) }
}
