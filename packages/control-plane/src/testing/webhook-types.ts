import { isJsonObject, type JsonObject, type JsonValue } from '@millrace/protocol'
import type { DestinationTypeDefinition, DestinationTypes } from '../resources/destination-types.ts'

const MASK = '********'

const webhook: DestinationTypeDefinition = {
  displayName: 'Webhook',
  config: {
    supportedSourceTypes: ['cordova', 'web', 'cloud'],
  },
}

/**
 * Two small types with the secrets of contracts/destinations.md §3: WEBHOOK, and CLOUD_ONLY, which accepts only
 * `cloud`.
 */
export const testDestinationTypes: DestinationTypes = {
  names: () => ['CLOUD_ONLY', 'WEBHOOK'],
  find(name) {
    if (name === 'WEBHOOK') return { definition: webhook }
    if (name !== 'CLOUD_ONLY') return undefined
    return { definition: { ...webhook, config: { ...webhook.config, supportedSourceTypes: ['cloud'] } } }
  },
  faultsIn: (_, config) => {
    if (config['webhookUrl'] === undefined) return [{ path: '/webhookUrl', message: 'is required' }]
    if (typeof config['webhookUrl'] !== 'string') return [{ path: '/webhookUrl', message: 'must be of type string' }]
    return []
  },
  maskConfig: (_, config) => mapSecrets(config, () => MASK),
  unmaskConfig(_, written, saved) {
    const values = new Map<string, string>()
    mapSecrets(saved ?? {}, (value, key) => {
      values.set(key, value)
      return value
    })
    const masksWithoutValue: string[] = []
    const config = mapSecrets(written, (value, key, path) => {
      if (value !== MASK) return value
      if (!values.has(key)) masksWithoutValue.push(path)
      return values.get(key) ?? value
    })
    return { config, masksWithoutValue, hasOtherHost: saved !== undefined && hasOtherHost(written, saved) }
  },
  withoutMasks: (_, config) => mapSecrets(config, (value) => (value === MASK ? undefined : value)),
}

/** Hosts of secrets are those of webhookUrl and allowedHosts. */
function hasOtherHost(written: JsonObject, saved: JsonObject): boolean {
  const origin = ({ webhookUrl }: JsonObject) => URL.parse(String(webhookUrl))?.origin
  const trusted = ({ allowedHosts }: JsonObject) => ((allowedHosts ?? []) as string[]).map((host) => host.toLowerCase())
  return origin(written) !== origin(saved) || trusted(written).some((host) => !trusted(saved).includes(host))
}

/** The secrets are signingSecret, the header Authorization and the password in webhookUrl. */
function mapSecrets(
  config: JsonObject,
  map: (value: string, key: string, path: string) => string | undefined,
): JsonObject {
  const copy = structuredClone(config)
  const { signingSecret, webhookUrl, headers } = copy
  if (typeof signingSecret === 'string') {
    const mapped = map(signingSecret, 'signingSecret', '/signingSecret')
    if (mapped === undefined) delete copy['signingSecret']
    else copy['signingSecret'] = mapped
  }
  if (typeof webhookUrl === 'string') {
    copy['webhookUrl'] = webhookUrl.replace(/(:\/\/[^/:@]*):([^/@]*)@/, (_, before, password) => {
      const mapped = map(password, 'password', '/webhookUrl')
      return mapped === undefined ? `${before}@` : `${before}:${mapped}@`
    })
  }
  if (Array.isArray(headers)) {
    copy['headers'] = headers.flatMap((entry, i): JsonValue[] => {
      if (!isJsonObject(entry) || String(entry['from']).toLowerCase() !== 'authorization') return [entry]
      const to = map(String(entry['to']), 'authorization', `/headers/${i}/to`)
      return to === undefined ? [] : [{ ...entry, to }]
    })
  }
  return copy
}
