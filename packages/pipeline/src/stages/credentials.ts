import { type OutboundCredentials, outboundCredentials } from '@millrace/delivery'
import { certificateOf, type DestinationCodeError, type DestinationModule, tokenGrantOf } from '@millrace/destinations'
import type { JsonObject } from '@millrace/protocol'

interface Configured {
  readonly config: JsonObject
  readonly savedConfig?: JsonObject
  readonly module: DestinationModule
}

/**
 * The access token and the certificate that a configuration asks for; undefined for none. Made once for each configuration.
 *
 * @returns an error that every request fails with, if a part of them is missing.
 */
export function credentialsOf(
  configured: Configured,
  userAgent: string,
): OutboundCredentials | DestinationCodeError | undefined {
  const { config, module } = configured
  try {
    const grant = tokenGrantOf(module, config)
    const tokenOrigin = grant && savedTokenOrigin(configured)
    return outboundCredentials({ grant, certificate: certificateOf(module, config), tokenOrigin, userAgent })
  } catch (error) {
    return error as DestinationCodeError
  }
}

/** Only a saved address may be on loopback; a test may complete a configuration that lacks one. */
function savedTokenOrigin({ config, savedConfig = config, module }: Configured): string | undefined {
  try {
    return URL.parse(tokenGrantOf(module, savedConfig)?.tokenUrl ?? '')?.origin
  } catch {
    return undefined
  }
}
