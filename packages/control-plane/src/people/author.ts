/** Who makes a change, as the audit log tells it. @see contracts/control-plane.md §10 [D719] */
export interface Author {
  /** E-mail of the user, `millrace` for what the program does by itself, `unknown` where nobody can be told. */
  readonly actor: string
  /** Name of the access token that the request was made with. */
  readonly tokenName: string | null
  /** Of the client, as limits see it. */
  readonly address: string | null
  /** The X-Request-Id of the answer. */
  readonly requestId: string | null
}

/** The program itself: at the first start, and whenever no request asks for a change. */
export const MILLRACE: Author = { actor: 'millrace', tokenName: null, address: null, requestId: null }
