import type { ApiAnswer, DevEnv } from '@millrace/dev-env'

export const ALL = { user_transform: true, dest_transform: true, send_to_destination: true }
export const SEND = { send_to_destination: true }
export const TRANSFORM = { dest_transform: true }
/** A message as somebody might try it: without anything that acceptance would add. */
export const MESSAGE = { type: 'track', userId: 'u-4711', event: 'Seat Reserved', properties: { hall: 'B', seat: 14 } }

export const NO_ID = '3iidO0kXIpgrmam9JhPLS2gpoVe'

/** The request object of a message for a webhook without further configuration. */
export function posted(endpoint: string, message: object, headers: object = {}) {
  return {
    version: '1',
    type: 'REST',
    method: 'POST',
    endpoint,
    headers: { 'content-type': 'application/json', ...headers },
    params: {},
    body: { JSON: message, JSON_ARRAY: {}, XML: {}, FORM: {} },
    files: {},
  }
}

/** Calls the Test API; by default as the owner. */
export class ApiTester {
  readonly #env: DevEnv
  readonly #tokens = new Map<string, string>()

  constructor(env: DevEnv) {
    this.#env = env
  }

  /** @param path with its query. @param body what is no text is written as JSON. */
  post(path: string, body: unknown, headers: Readonly<Record<string, string>> = {}): Promise<ApiAnswer> {
    return this.#env.request(path, {
      method: 'POST',
      headers: { Authorization: `Bearer ${this.#env.token}`, ...headers },
      body: typeof body === 'string' || body instanceof Uint8Array ? body : JSON.stringify(body),
    })
  }

  destination(id: string, body: unknown, query = '', headers: Readonly<Record<string, string>> = {}) {
    return this.post(`/v0/testDestination/${id}${query}`, body, headers)
  }

  source(id: string, body: unknown, query = '', headers: Readonly<Record<string, string>> = {}) {
    return this.post(`/v0/testSource/${id}${query}`, body, headers)
  }

  /** The one stage result. @throws Error if there is none. */
  // biome-ignore lint/suspicious/noExplicitAny: a test looks into it as it knows it to be
  async stages(id: string, stage: object, message: object = MESSAGE, more: object = {}, query = ''): Promise<any> {
    const { status, text, json } = await this.destination(id, { stage, message, ...more }, query)
    if (status !== 200 || json.data?.length !== 1) throw new Error(`${status}: ${text}`)
    return json.data[0]
  }

  /** Credentials of a user with this role, made when they are first asked for. */
  async as(role: 'viewer' | 'editor' | 'admin'): Promise<Record<string, string>> {
    let token = this.#tokens.get(role)
    if (token === undefined) {
      token = (await this.#env.api('POST', '/v2/users', { email: `${role}@cinema.example`, role })).json.token as string
      this.#tokens.set(role, token)
    }
    return { Authorization: `Bearer ${token}` }
  }
}
