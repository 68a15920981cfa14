/** The author of a change in the audit log. @see contracts/control-plane.md §10 [D719] */
export interface Author {
  /** E-mail of the user, `millrace` for actions of the program, `unknown` if the author is unknown. */
  readonly actor: string
  /** Name of the request's access token. */
  readonly tokenName: string | null
  /** Address of the client, as limits count it. */
  readonly address: string | null
  /** The X-Request-Id of the answer. */
  readonly requestId: string | null
  /** The request's access token. Once it is revoked, changes by this author are refused. */
  readonly tokenId?: string
}

/** The program itself: at the first start, and for every change without a request. */
export const MILLRACE: Author = { actor: 'millrace', tokenName: null, address: null, requestId: null }
