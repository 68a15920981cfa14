import type { DestinationDefinition, RemoteOutcome, RemoteRequest } from '@millrace/destinations'

/** A type whose code runs elsewhere; the tests write the code. */
export const REMOTE_TYPE = {
  id: 'remote-type',
  name: 'REMOTE',
  displayName: 'Remote',
  category: 'test',
  kind: 'cloud',
  defaultConfig: ['url'],
  config: {
    destConfig: { defaultConfig: ['url'] },
    extraConfig: [],
    commonConfig: [],
    secretKeys: [],
    hostKeys: ['url'],
    publicKeys: [],
    supportedMessageTypes: { cloud: ['track'] },
    supportedConnectionModes: { cloud: ['cloud'] },
    supportedSourceTypes: ['cloud'],
  },
  configSchema: {},
  uiConfig: {},
  options: {},
  createdAt: '2026-11-24T08:00:00.000Z',
  updatedAt: '2026-11-24T08:00:00.000Z',
} as const satisfies DestinationDefinition

/** What an answer means to code that judges by its status. */
export function outcomeOf(status: number): RemoteOutcome {
  const kind = status < 300 ? 'delivered' : status >= 500 || [423, 429].includes(status) ? 'retry' : 'abort'
  return { kind, status, text: '', stage: 'delivery' }
}

export function requestTo(url: string, body: string): RemoteRequest {
  const object = {
    version: '1',
    type: 'REST',
    method: 'POST',
    endpoint: url,
    headers: {},
    params: {},
    body: { JSON: {}, JSON_ARRAY: {}, XML: {}, FORM: {} },
    files: {},
  } as const
  const headers = { 'content-type': 'application/json' }
  return { method: 'POST', url, headers, body, object, timeoutMs: 10_000, derivedSecrets: [], rules: [] }
}
