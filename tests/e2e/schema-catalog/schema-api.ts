import { setTimeout } from 'node:timers/promises'
import { type ApiAnswer, DevEnv, type DevEnvOptions } from '@millrace/dev-env'

const DEADLINE_MS = 10_000
const ASK_AGAIN_MS = 10
const USER = 'admin'
export const PASSWORD = 'the-password-of-the-schema-api'

/** The whole product with known credentials of the schema API. */
export function openEnv(options: DevEnvOptions = {}): Promise<DevEnv> {
  return DevEnv.open({ settings: { SERVICE_ADMIN_PASSWORD: PASSWORD, ...options.settings } })
}

export function basic(user: string, password: string): string {
  return `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`
}

export const ADMIN = basic(USER, PASSWORD)

export interface EventModel {
  readonly ID: number
  readonly EventID: string
  readonly WriteKey: string
  readonly EventType: string
  readonly EventIdentifier: string
  readonly CreatedAt: string
  readonly Schema: Record<string, string>
  readonly LastSeen: string
  readonly TotalCount: number
}

export interface EventVersion {
  readonly ID: number
  readonly VersionID: string
  readonly EventModelID: string
  readonly Schema: Record<string, string>
  readonly FirstSeen: string
  readonly LastSeen: string
  readonly TotalCount: number
}

export interface Metadata {
  readonly SampledEvents: readonly Record<string, unknown>[]
  readonly TotalCount: number
  readonly FrequentValues: Record<string, readonly { readonly Value: string; readonly Frequency: number }[]>
}

/** Where a schema API is asked. */
export interface Asked {
  request(path: string, init?: RequestInit): Promise<Pick<ApiAnswer, 'status' | 'text' | 'json'>>
}

/** Asks the schema API as its admin. */
export class SchemaApi {
  readonly #env: Asked

  constructor(env: Asked) {
    this.#env = env
  }

  async get(path: string) {
    const answer = await this.#env.request(path, { headers: { Authorization: ADMIN } })
    return { status: answer.status, text: answer.text, json: answer.json }
  }

  models(writeKey = ''): Promise<EventModel[]> {
    return this.#read(`/schemas/event-models?WriteKey=${encodeURIComponent(writeKey)}`)
  }

  versions(model: Pick<EventModel, 'EventID'>): Promise<EventVersion[]> {
    return this.#read(`/schemas/event-versions?EventID=${model.EventID}`)
  }

  metadata(of: Pick<EventModel, 'EventID'> | Pick<EventVersion, 'VersionID'>): Promise<Metadata> {
    const path = 'VersionID' in of ? `event-version/${of.VersionID}` : `event-model/${of.EventID}`
    return this.#read(`/schemas/${path}/metadata`)
  }

  keyCounts(model: Pick<EventModel, 'EventID'>): Promise<Record<string, number>> {
    return this.#read(`/schemas/event-model/${model.EventID}/key-counts`)
  }

  missingKeys(version: Pick<EventVersion, 'VersionID'>): Promise<string[]> {
    return this.#read(`/schemas/event-version/${version.VersionID}/missing-keys`)
  }

  // biome-ignore lint/suspicious/noExplicitAny: a test looks into it as it knows it to be
  status(): Promise<any> {
    return this.#read('/schemas/status')
  }

  /** Resolves with the models of a source once they hold so many events. Nothing announces it, so this asks again. */
  async counted(writeKey: string, events: number, deadlineMs = DEADLINE_MS): Promise<EventModel[]> {
    for (const deadline = Date.now() + deadlineMs; ; await setTimeout(ASK_AGAIN_MS)) {
      const models = await this.models(writeKey)
      const count = models.reduce((sum, { TotalCount }) => sum + TotalCount, 0)
      if (count === events) return models
      if (count > events || Date.now() > deadline) throw new Error(`${count} events are counted, not ${events}`)
    }
  }

  async #read<T>(path: string): Promise<T> {
    const { status, text, json } = await this.get(path)
    if (status !== 200) throw new Error(`${path} was answered ${status}: ${text}`)
    return json
  }
}
