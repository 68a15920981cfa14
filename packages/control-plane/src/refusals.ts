import { ApiError } from '@millrace/openapi'

/** Missing or invalid credentials. */
export function unauthorized(): ApiError {
  return new ApiError('unauthorized', 'Invalid Authorization Header', { headers: { 'WWW-Authenticate': 'Bearer' } })
}

/** @param path JSON pointer into the config. */
export function invalidConfig(path: string, message: string): ApiError {
  return new ApiError('invalid_config', 'Invalid config', { details: { path, message } })
}

/** A change that may be stored. */
export function inDoubt(cause: unknown): ApiError {
  return new ApiError('unavailable', 'Service unavailable: the change may be stored, read before you repeat it', {
    cause,
  })
}

export function unavailable(cause?: unknown): ApiError {
  return new ApiError('unavailable', 'Service unavailable', { cause })
}
