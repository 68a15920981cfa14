/** How an access token is obtained: one request to a token endpoint (RFC 6749 §4.4 and §6). */
export interface TokenGrant {
  /** An http or https address. */
  readonly tokenUrl: string
  readonly clientId: string
  readonly clientSecret: string
  /** Where the client's credentials go: a Basic header, or the body (RFC 6749 §2.3.1). */
  readonly clientAuth: 'basic' | 'post'
  /** Further fields of the request, `grant_type` among them. */
  readonly fields: Readonly<Record<string, string>>
}

/** How the service of a type issues a refresh token to a person who allows it: RFC 6749 §4.1 with PKCE (RFC 7636). */
export interface Authorization {
  /** The page of the service, without what one authorization adds. */
  readonly authorizeUrl: string
  readonly tokenUrl: string
  readonly clientId: string
  readonly clientSecret: string
  readonly scope: string
  /** Further parameters of the page's address. */
  readonly params: Readonly<Record<string, string>>
}

/** What a client proves its identity with in a TLS handshake. Texts are PEM. */
export interface ClientCertificate {
  /** Undefined if only the server's authority is given. */
  readonly identity: { readonly certificate: string; readonly key: string; readonly passphrase?: string } | undefined
  /** Authorities that the server's certificate must come from, in place of the usual ones. */
  readonly authorities: string | undefined
}
