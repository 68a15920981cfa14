import type { AccessToken, User } from '../../people/accounts.ts'
import type { Connection } from '../../resources/connection.ts'
import type { Credential } from '../../resources/credential.ts'
import { DEFAULT_DELIVERY, type Destination } from '../../resources/destination.ts'
import type { Source } from '../../resources/source.ts'
import { type CodeVersion, libraryCode, transformationCode } from '../../transformations/code.ts'
import type { Library } from '../../transformations/library.ts'
import type { Transformation } from '../../transformations/transformation.ts'
import type { Change } from '../../workspace/change.ts'

export const AT = 1_772_000_000_000

export const exampleSource: Source = {
  id: 's-1',
  key: 'cinema-app',
  name: 'Cinema \u0000 app \ud800',
  type: 'Cordova',
  writeKey: '3PS3MKgFh6ZTxDaxUjKBsLaUg1r',
  previousWriteKeys: [{ key: 'oldoldoldoldoldoldold', expiresAt: AT + 5 }],
  isEnabled: true,
  config: {
    rateLimitEventsPerMinute: 0,
    dedupWindowSeconds: 0,
    orderShards: 1,
    catalog: { samples: 'full', values: 'on' },
  },
  partition: 5,
  workspaceId: 'w-1',
  createdAt: AT,
  updatedAt: AT,
  revision: 1,
}

export const exampleDestination: Destination = {
  id: 'd-1',
  key: 'booking-hook',
  name: 'Booking hook',
  type: 'WEBHOOK',
  isEnabled: false,
  config: { webhookUrl: 'https://hooks.cinema.example/in', signingSecret: 'canary-secret-of-the-store' },
  transformationIds: [],
  transformations: [],
  delivery: DEFAULT_DELIVERY,
  workspaceId: 'w-1',
  createdAt: AT + 1,
  updatedAt: AT + 1,
  revision: 2,
}

export const exampleConnection: Connection = {
  id: 'c-1',
  sourceId: 's-1',
  destinationId: 'd-1',
  isEnabled: true,
  createdAt: AT + 2,
  updatedAt: AT + 2,
  revision: 3,
}

function version(id: string, at: number, imports: readonly string[] = []): CodeVersion {
  const code = `// ${id} \u0000 \ud800 'quoted'`
  return { id, language: 'typescript', code, imports, pins: null, createdAt: at, createdBy: 'Ada@cinema.example' }
}

export const LIBRARY = { kind: 'library', id: 'l-1' } as const
export const TRANSFORMATION = { kind: 'transformation', id: 'tr-1' } as const
export const [libraryV1, libraryV2] = [version('lv-1', AT), version('lv-2', AT + 1)]
export const codeV1 = {
  ...version('tv-1', AT + 2, ['priceRules']),
  pins: [{ importName: 'priceRules', versionId: 'lv-1' }],
}
export const codeV2 = version('tv-2', AT + 3)

export const library: Library = {
  id: 'l-1',
  key: 'price-rules',
  name: 'Price Rules',
  importName: 'priceRules',
  description: '',
  newest: libraryV2,
  published: libraryV2,
  workspaceId: 'w-1',
  createdAt: AT,
  updatedAt: AT + 1,
  revision: 4,
}

export const transformation: Transformation = {
  id: 'tr-1',
  key: 'add-cents',
  name: 'Add cents',
  description: 'price in cents',
  captureLogs: true,
  newest: codeV2,
  // It pins a version of the library that is no longer published.
  published: transformationCode('tr-1', codeV1, [libraryCode('priceRules', libraryV1)]),
  tests: [{ id: 't1', name: 'cents', input: [{ type: 'track' }], expectedOutput: [] }],
  workspaceId: 'w-1',
  createdAt: AT + 2,
  updatedAt: AT + 3,
  revision: 5,
}

export const user: User = { id: 'u-1', email: 'Ada@cinema.example', role: 'admin', createdAt: AT, updatedAt: AT }

export const token: AccessToken = {
  id: 't-1',
  userId: 'u-1',
  name: 'ci',
  role: 'viewer',
  digest: 'ab'.repeat(32),
  createdAt: AT,
  expiresAt: null,
  lastUsedAt: null,
}

export const credential: Credential = {
  key: 'geo_api',
  value: 'canary-credential \u0000 \ud800',
  createdAt: AT + 3,
  updatedAt: AT + 4,
}

export const EVERYTHING: readonly Change[] = [
  { kind: 'source', id: 's-1', value: exampleSource },
  { kind: 'destination', id: 'd-1', value: exampleDestination },
  { kind: 'connection', id: 'c-1', value: exampleConnection },
  { kind: 'code-version', id: 'lv-1', owner: LIBRARY, value: libraryV1 },
  { kind: 'code-version', id: 'lv-2', owner: LIBRARY, value: libraryV2 },
  { kind: 'code-version', id: 'tv-1', owner: TRANSFORMATION, value: codeV1 },
  { kind: 'code-version', id: 'tv-2', owner: TRANSFORMATION, value: codeV2 },
  { kind: 'library', id: 'l-1', value: library },
  { kind: 'transformation', id: 'tr-1', value: transformation },
  { kind: 'user', id: 'u-1', value: user },
  { kind: 'access-token', id: 't-1', value: token },
  { kind: 'credential', id: 'geo_api', value: credential },
  { kind: 'ownership', value: { userId: 'u-1', given: null, unprintedTokenId: 't-1' } },
]
