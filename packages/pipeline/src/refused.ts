/** A request that is refused, in the form that the server turns into an answer. @see contracts/delivery.md §10 */
export class Refused extends Error {
  override name = 'Refused'
  readonly code: 'bad_request' | 'not_found'
  readonly status: 400 | 404

  constructor(code: Refused['code'], message: string) {
    super(message)
    this.code = code
    this.status = code === 'bad_request' ? 400 : 404
  }
}
