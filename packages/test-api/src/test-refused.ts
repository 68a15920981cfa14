/** A request that is refused, as `{"message": text}`. @see contracts/test-api.md §8 */
export class TestRefused extends Error {
  override readonly name = 'TestRefused'
  readonly code = 'refused'
  readonly status: number
  readonly headers: Readonly<Record<string, string>>

  constructor(status: number, message: string, headers: Readonly<Record<string, string>> = {}) {
    super(message)
    this.status = status
    this.headers = headers
  }
}
