import { createHash } from 'node:crypto'
import type { ClientCertificate, TokenGrant } from '@millrace/protocol'

/** Credentials that sending adds to the requests of one configuration. Create them once: each id is a hash. */
export interface OutboundCredentials {
  /** Obtains the access token of the header `authorization`. */
  readonly grant: IdentifiedGrant | undefined
  readonly certificate: IdentifiedCertificate | undefined
}

export interface IdentifiedGrant extends TokenGrant {
  /** Equal for equal grants. */
  readonly id: string
  /** As `OutboundRequest.configuredOrigin`, for the token endpoint. */
  readonly configuredOrigin: string | undefined
  readonly userAgent: string
}

export interface IdentifiedCertificate extends ClientCertificate {
  /** Equal for equal certificates. */
  readonly id: string
}

/** @param tokenOrigin of the token endpoint, if the saved configuration or the type's code names it. */
export function outboundCredentials({
  grant,
  certificate,
  tokenOrigin,
  userAgent,
}: {
  readonly grant: TokenGrant | undefined
  readonly certificate: ClientCertificate | undefined
  readonly tokenOrigin: string | undefined
  /** For token requests. */
  readonly userAgent: string
}): OutboundCredentials | undefined {
  if (grant === undefined && certificate === undefined) return undefined
  return {
    grant: grant && {
      ...grant,
      configuredOrigin: tokenOrigin,
      userAgent,
      id: idOf({ ...grant, tokenOrigin }),
    },
    certificate: certificate && { ...certificate, id: idOf(certificate) },
  }
}

function idOf(value: object): string {
  return createHash('sha256').update(JSON.stringify(value)).digest('base64')
}
