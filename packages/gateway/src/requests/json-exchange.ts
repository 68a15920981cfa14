import type { Refusal } from '../refusals.ts'
import { Exchange } from './exchange.ts'

const JSON_HEADERS = { 'Content-Type': 'application/json; charset=utf-8' }

/** A request of a client that parses every answer as JSON. */
export class JsonExchange extends Exchange {
  override accept(headers?: Readonly<Record<string, string>>): void {
    this.send(200, { ...JSON_HEADERS, ...headers }, '{"success":true}')
  }

  override refuse(refusal: Refusal): void {
    const { status, text } = this.note(refusal.reason)
    const index = refusal.eventIndex === undefined ? {} : { 'X-Millrace-Event-Index': String(refusal.eventIndex) }
    this.send(
      status,
      { ...JSON_HEADERS, ...refusal.headers, ...index },
      JSON.stringify({ success: false, error: text }),
    )
  }

  override refuseMethod(allow: string): void {
    const { status, text } = this.note('method')
    this.send(status, { ...JSON_HEADERS, Allow: allow }, JSON.stringify({ success: false, error: text }))
  }
}
