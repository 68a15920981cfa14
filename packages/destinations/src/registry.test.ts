import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { JsonObject, JsonValue } from '@millrace/protocol'
import { describe, expect, test } from 'vitest'
import type { DestinationDefinition, DestinationModule } from './definition.ts'
import { DestinationRegistry } from './registry.ts'
import { destination as webhook } from './types/webhook/webhook.ts'

const root = join(import.meta.dirname, '../../..')
const registry = new DestinationRegistry([webhook])

test('types are found by their exact name', () => {
  expect(registry.find('WEBHOOK')).toBe(webhook)
  expect(registry.all()).toEqual([webhook])
  for (const name of ['webhook', 'Webhook', '', '__proto__', 'KAFKA']) expect(registry.find(name)).toBeUndefined()
})

test('two types of one name are refused', () => {
  expect(() => new DestinationRegistry([webhook, webhook])).toThrow('WEBHOOK')
})

test.each([
  ['stream', 'KAFKA'],
  ['stream', 'GOOGLEPUBSUB'],
  ['object-storage', 'S3'],
  ['object-storage', 'DIGITAL_OCEAN_SPACES'],
  ['key-value', 'REDIS'],
  ['spreadsheet', 'GOOGLESHEETS'],
  ['warehouse-stream', 'BQSTREAM'],
] as const)('a type of kind %s can be described, and %s is kept for one', (kind, name) => {
  const described = (definition: Partial<DestinationDefinition>): DestinationModule => ({
    definition: { ...webhook.definition, ...definition },
    transform: () => expect.unreachable(),
  })
  const module = described({ kind, name })
  const kept = new DestinationRegistry([webhook, module])
  expect(kept.find(name)).toBe(module)
  expect(kept.faultsIn(module, {})).toEqual([{ path: '/webhookUrl', message: 'is required' }])
  expect(() => new DestinationRegistry([described({ name })])).toThrow(`${name} is the name of a type of kind ${kind}`)
  expect(new DestinationRegistry([described({ kind, name: 'ACME_QUEUE' })]).all()).toHaveLength(1)
})

test('none of another kind than cloud is built yet', async () => {
  const kinds = (await DestinationRegistry.load()).all().map(({ definition }) => definition.kind)
  expect(new Set(kinds)).toEqual(new Set(['cloud']))
})

describe('a config about to be saved', () => {
  const webhookUrl = 'https://hooks.cinema.example/in'

  test.each<[what: string, config: JsonObject]>([
    ['the least', { webhookUrl }],
    ['an address that cannot be reached', { webhookUrl: 'nowhere' }],
    ['a method in any letter case', { webhookUrl, webhookMethod: 'dElEtE' }],
    ['headers as a list', { webhookUrl, headers: [{ from: 'X-Desk', to: '3', secret: true, note: 7 }] }],
    ['headers as an object', { webhookUrl, headers: { 'X-Desk': '3' } }],
    ['a secret of 16 characters', { webhookUrl, signingSecret: 'sixteen-letters!' }],
    ['variables that the type does not know', { webhookUrl, colour: 'blue', connectionMode: { web: 'cloud' } }],
  ])('may hold %s', (_, config) => {
    expect(registry.faultsIn(webhook, config)).toEqual([])
  })

  test.each<[path: string, message: string, config: JsonObject]>([
    ['/webhookUrl', 'is required', {}],
    ['/webhookUrl', 'must not be empty', { webhookUrl: '' }],
    ['/webhookUrl', 'must be of type string', { webhookUrl: null }],
    ['/webhookMethod', 'must be one of POST, PUT, PATCH, GET, DELETE', { webhookUrl, webhookMethod: 'FOO' }],
    ['/webhookMethod', 'must be one of POST, PUT, PATCH, GET, DELETE', { webhookUrl, webhookMethod: '' }],
    ['/webhookMethod', 'must be of type string', { webhookUrl, webhookMethod: 7 }],
    [
      '/headers',
      'must be a list of objects with from and to or an object of strings',
      { webhookUrl, headers: 'X-Desk: 3' },
    ],
    [
      '/headers',
      'must be a list of objects with from and to or an object of strings',
      { webhookUrl, headers: [{ from: 'X-Desk' }] },
    ],
    [
      '/headers',
      'must be a list of objects with from and to or an object of strings',
      { webhookUrl, headers: { 'X-Desk': 3 } },
    ],
    ['/signingSecret', 'must have at least 16 characters', { webhookUrl, signingSecret: 'fifteen-letters' }],
    ['/allowedHosts', 'must be of type array', { webhookUrl, allowedHosts: 'seats.cinema.example' }],
    ['/allowedHosts/1', 'must be of type string', { webhookUrl, allowedHosts: ['a', 1] }],
  ])('is refused at %s: %s', (path, message, config) => {
    expect(registry.faultsIn(webhook, config)).toEqual([{ path, message }])
  })

  const streams = 'must have exactly one of measurementId, firebaseAppId'
  test.each<[type: string, path: string, message: string, config: JsonObject]>([
    ['GA4', '', streams, { apiSecret: 'x' }],
    ['GA4', '', streams, { apiSecret: 'x', measurementId: 'G-1', firebaseAppId: '1:2' }],
    ['GA4', '/apiSecret', 'is required', { measurementId: 'G-1' }],
    ['GA4', '/region', 'must be one of global, eu', { apiSecret: 'x', measurementId: 'G-1', region: 'EU' }],
    [
      'GA4',
      '/debug',
      'must be off in a saved destination, because the validation server records nothing',
      { apiSecret: 'x', measurementId: 'G-1', debug: true },
    ],
    ['GA4', '/userPropertyNames', 'is required', { apiSecret: 'x', measurementId: 'G-1', userProperties: 'listed' }],
    [
      'GA4',
      '/userPropertyNames',
      'must not be empty',
      { apiSecret: 'x', measurementId: 'G-1', userProperties: 'listed', userPropertyNames: [] },
    ],
    [
      'GA4',
      '/adUserData',
      'must be one of GRANTED, DENIED',
      { apiSecret: 'x', measurementId: 'G-1', adUserData: 'yes' },
    ],
    ['AMPLITUDE', '/apiKey', 'must not be empty', { apiKey: '' }],
    ['AMPLITUDE', '/region', 'must be one of US, EU', { apiKey: 'x', region: 'IN' }],
    ['AMPLITUDE', '/groupType', 'must be of type string', { apiKey: 'x', groupType: null }],
    ['MIXPANEL', '/projectToken', 'is required', {}],
    ['MIXPANEL', '/region', 'must be one of US, EU, IN', { projectToken: 'x', region: 'us' }],
  ])('of type %s is refused at "%s": %s', async (type, path, message, config) => {
    const all = await DestinationRegistry.load()
    expect(all.faultsIn(all.find(type)!, config)).toEqual([{ path, message }])
  })

  test('tells every fault, and of a choice of forms only that none fits', () => {
    const config = { webhookMethod: 7, headers: [{ from: 1 }], allowedHosts: [1, 'a', 2] }
    expect(registry.faultsIn(webhook, config).map(({ path }) => path)).toEqual([
      '/webhookUrl',
      '/webhookMethod',
      '/headers',
      '/allowedHosts/0',
      '/allowedHosts/2',
    ])
  })

  test('may have 64 KB and no byte more', () => {
    const around = Buffer.byteLength(JSON.stringify({ webhookUrl, note: '' }))
    const full = { webhookUrl, note: 'é'.repeat((64 * 1_024 - around) / 2) + 'x'.repeat((64 * 1_024 - around) % 2) }
    expect(registry.faultsIn(webhook, full)).toEqual([])
    expect(registry.faultsIn(webhook, { ...full, note: `${full.note}x` })).toEqual([
      { path: '', message: 'is too large' },
    ])
  })
})

test('a config that is nested deeply is refused', async () => {
  const all = await DestinationRegistry.load()
  const nested = (levels: number) => JSON.parse(`${'['.repeat(levels)}${']'.repeat(levels)}`) as JsonValue
  const config = (levels: number) => ({
    botToken: 'x',
    channel: 'C',
    identifyBlocks: [{ type: 'a', a: nested(levels) }],
  })
  expect(all.faultsIn(all.find('SLACK')!, config(100))).toEqual([])
  expect(all.faultsIn(all.find('SLACK')!, config(10_000))).toEqual([{ path: '', message: 'is nested too deeply' }])
})

test('the type that the guide adds, a folder and nothing else, works beside the others', () => {
  const guide = readFileSync(join(root, 'docs/destinations/adding-a-destination.md'), 'utf8')
  const files = [...guide.matchAll(/```ts\n\/\/ (\S+)\n(.*?)```/gs)].map((match) => [match[1]!, match[2]!] as const)
  expect(files.map(([path]) => path)).toEqual([
    'cinema-crm/definition.ts',
    'cinema-crm/cinema-crm.ts',
    'cinema-crm/cinema-crm.cases.ts',
  ])
  const directory = mkdtempSync(join(tmpdir(), 'millrace-destinations-'))
  try {
    const src = join(directory, 'src')
    cpSync(import.meta.dirname, src, { recursive: true })
    cpSync(join(import.meta.dirname, '../package.json'), join(directory, 'package.json'))
    symlinkSync(join(root, 'node_modules'), join(directory, 'node_modules'))
    for (const [path, text] of files) {
      mkdirSync(dirname(join(src, 'types', path)), { recursive: true })
      writeFileSync(join(src, 'types', path), text)
    }
    const output = execFileSync(process.execPath, ['--input-type=module', '--eval', USE_OF_THE_NEW_TYPE], { cwd: src })
    const { names, outcomes, expected, faults, masked, shown } = JSON.parse(output.toString())
    expect(names).toContain('CINEMA_CRM')
    expect(names).toContain('WEBHOOK')
    expect(outcomes).toEqual(expected)
    expect(faults).toEqual([{ path: '/password', message: 'is required' }])
    expect(masked).toEqual({ apiUrl: 'https://crm.cinema.example/v1', userName: 'ada', password: '********' })
    expect(shown[0].headers).toEqual({ authorization: '********' })
  } finally {
    rmSync(directory, { recursive: true })
  }
})

/** What gateway, pipeline and control plane do with a type, by the registry alone. */
const USE_OF_THE_NEW_TYPE = `
  import { DestinationRegistry, Masking, maskConfig, runTransform, secretValues } from './index.ts'
  import { cases } from './types/cinema-crm/cinema-crm.cases.ts'
  const registry = await DestinationRegistry.load()
  const type = registry.find('CINEMA_CRM')
  const results = cases.map(({ event, config }) => runTransform(type, event, config, {}))
  const { config } = cases[0]
  const masking = new Masking([...secretValues(type.definition, config), ...results[0].derivedSecrets])
  console.log(JSON.stringify({
    names: registry.all().map(({ definition }) => definition.name).sort(),
    outcomes: results.map(({ derivedSecrets, ...outcome }) => outcome),
    expected: cases.map(({ expected }) => expected),
    faults: registry.faultsIn(type, { apiUrl: 'x', userName: 'ada' }),
    masked: maskConfig(type.definition, config),
    shown: masking.value(results[0].requests),
  }))
`
