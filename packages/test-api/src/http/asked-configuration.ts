import type { DestinationRegistry } from '@millrace/destinations'
import { ApiError, notFound } from '@millrace/openapi'
import { isJsonObject, type JsonObject } from '@millrace/protocol'
import type { TestApiOptions } from '../test-api-options.ts'

export interface AskedConfigurationOptions extends Pick<TestApiOptions, 'configuration'> {
  readonly destinationTypes: Pick<DestinationRegistry, 'find' | 'names' | 'faultsIn'>
}

/**
 * The configuration of a request body: one that is not saved, or a change of a saved one, whose secrets masks stand for.
 *
 * @param more members that the body may have besides.
 * @throws ApiError
 */
export function askedConfiguration(body: JsonObject, more: readonly string[], options: AskedConfigurationOptions) {
  const asked = askedType(body, more, options)
  const { module, config, saved } = asked
  const [fault] = options.destinationTypes.faultsIn(module, { ...saved?.config, ...config })
  if (fault !== undefined) throw new ApiError('invalid_config', 'Invalid config', { details: { ...fault } })
  return asked
}

/** As `askedConfiguration`, but the configuration may be incomplete. @throws ApiError */
export function askedType(
  body: JsonObject,
  more: readonly string[],
  { destinationTypes, configuration }: AskedConfigurationOptions,
) {
  const { type, config, destinationId, ...others } = body
  if (typeof type !== 'string' || type === '') throw new ApiError('bad_request', 'type is required')
  const module = destinationTypes.find(type)
  if (module === undefined) {
    throw new ApiError(
      'bad_request',
      `Unknown destination type ${type}; known are ${destinationTypes.names().join(', ')}`,
    )
  }
  if (!isJsonObject(config)) throw new ApiError('bad_request', 'config must be an object')
  const unknown = Object.keys(others).find((member) => !more.includes(member))
  if (unknown !== undefined) throw new ApiError('bad_request', `Unknown member: ${unknown}`)
  const isNew = destinationId === undefined || destinationId === null
  const saved = isNew ? undefined : configuration().destinations.get(String(destinationId))
  if (!isNew && saved?.type !== type) throw notFound('Destination', String(destinationId))
  return { module, config, saved }
}
