import { readdirSync } from 'node:fs'
import { EVENT_TYPES, isJsonObject, type JsonObject, type JsonValue, type StoredEvent } from '@millrace/protocol'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { Masking } from './config/masking.ts'
import { secretValues } from './config/secrets.ts'
import { DestinationRegistry } from './registry.ts'
import { jsonBody, requestObject } from './requests/request-object.ts'
import { toWire } from './requests/wire.ts'
import { runTransform } from './run-transform.ts'
import { batchKeyOf, batchLimitsOf, joinedRequest, refusalOf } from './shield.ts'
import { TYPES_FOLDER, typesUnderTest } from './types-under-test.ts'

/** What holds for each destination type. A new folder is tested by being there. */
const metadata = { sourceId: 's-1', destinationId: 'd-1', destinationName: 'Seats', messageId: 'm-88' }

const empty = requestObject({ method: '', endpoint: '' })
const anyMembers = fc.dictionary(fc.string({ unit: 'binary' }), fc.jsonValue(), { maxKeys: 5, noNullPrototype: true })
const anyValue = fc.oneof(fc.string(), anyMembers, fc.jsonValue())
const anyContext = fc.record(
  {
    traits: anyValue,
    device: anyValue,
    os: anyValue,
    page: anyValue,
    externalId: anyValue,
    sessionId: anyValue,
    ip: anyValue,
  },
  { requiredKeys: [] },
)
/** Whatever a client, or a user transformation, may make of an event. */
const anyEvent = fc
  .record(
    {
      type: fc.constantFrom(...EVENT_TYPES),
      event: anyValue,
      name: anyValue,
      userId: anyValue,
      anonymousId: anyValue,
      groupId: anyValue,
      messageId: anyValue,
      timestamp: anyValue,
      traits: anyValue,
      properties: anyValue,
      context: fc.oneof(anyContext, anyValue),
      request_ip: anyValue,
    },
    { requiredKeys: ['type'] },
  )
  // Through text once: it has no -0.
  .map((event) => JSON.parse(JSON.stringify(event)) as JsonObject)

const registry = await DestinationRegistry.load()

test('the registry holds every folder, under a name and an id of its own', () => {
  const definitions = registry.all().map(({ definition }) => definition)
  expect(definitions.map(({ name }) => name).toSorted()).toEqual(
    typesUnderTest.map(({ definition }) => definition.name).toSorted(),
  )
  expect(new Set(definitions.map(({ id }) => id)).size).toBe(typesUnderTest.length)
  expect(new Set(definitions.map(({ displayName }) => displayName)).size).toBe(typesUnderTest.length)
})

test('a folder holds code only: no type has a logo', () => {
  const files = readdirSync(TYPES_FOLDER, { withFileTypes: true, recursive: true })
  expect(files.filter((entry) => entry.isFile() && !entry.name.endsWith('.ts'))).toEqual([])
})

describe.each(typesUnderTest)('$folder', ({ folder, destination, definition, cases }) => {
  const { config } = definition

  describe('definition', () => {
    test('defaultConfig is the same at the top level and under destConfig', () => {
      expect(config.destConfig.defaultConfig).toEqual(definition.defaultConfig)
      expect(Array.isArray(definition.defaultConfig)).toBe(true)
    })

    test('the name is upper case and fits the folder', () => {
      expect(definition.name).toMatch(/^[A-Z0-9_]+$/)
      expect(definition.name.toLowerCase().replaceAll('_', '-')).toBe(folder)
    })

    test('every variable and every key of a secret or host is in the schema', () => {
      const known = Object.keys(definition.configSchema['properties'] as JsonObject)
      const variables = [...definition.defaultConfig, ...config.extraConfig]
      expect(known.toSorted()).toEqual(variables.toSorted())
      for (const key of [...config.secretKeys, ...config.hostKeys, ...config.trustedHostKeys!])
        expect(variables).toContain(key.split('.')[0])
    })

    test('every variable of defaultConfig has a field in the form, followed by those of extraConfig', () => {
      const { fields } = definition.uiConfig as { fields: { key: string; label: string }[] }
      const keys = fields.map(({ key }) => key)
      const extra = config.extraConfig.filter((variable) => keys.includes(variable))
      expect(keys).toEqual([...definition.defaultConfig, ...extra])
      for (const { label } of fields) expect(label).not.toBe('')
    })

    test('every type understands the common variables', () => {
      const common = ['connectionMode', 'eventFilteringOption', 'whitelistedEvents', 'blacklistedEvents']
      expect(config.commonConfig).toEqual(expect.arrayContaining(common))
    })

    test('nothing that is secret is public', () => {
      const secret = config.secretKeys.map((key) => key.split('.')[0])
      expect(config.publicKeys.filter((key) => secret.includes(key))).toEqual([])
    })

    test('each supported source type has a connection mode, and each mode its message types', () => {
      expect(Object.keys(config.supportedConnectionModes).toSorted()).toEqual(config.supportedSourceTypes.toSorted())
      for (const mode of Object.values(config.supportedConnectionModes).flat()) {
        expect(config.supportedMessageTypes[mode]).not.toHaveLength(0)
      }
    })

    test('it is data: JSON keeps all of it', () => {
      expect(JSON.parse(JSON.stringify(definition))).toEqual(definition)
    })
  })

  describe('cases', () => {
    test('no two have the same name', () => {
      expect(cases.map(({ name }) => name)).toEqual([...new Set(cases.map(({ name }) => name))])
    })

    test('what the guide shows may be saved', () => {
      for (const { config, expected, documented, testOnly } of cases) {
        const faults = registry.faultsIn(destination, config)
        if (testOnly) expect(faults).not.toEqual([])
        else if (documented && 'requests' in expected) expect(faults).toEqual([])
      }
    })

    test('the same event and config give the same requests a thousand times', () => {
      for (const { event, config, documented } of cases) {
        if (!documented) continue
        const run = () => JSON.stringify(runTransform(destination, event as StoredEvent, config, metadata))
        expect(new Set(Array.from({ length: 1_000 }, run)).size).toBe(1)
      }
    })

    test('any event gives requests that can be sent, or an error in words, and is itself unchanged', () => {
      const given = cases.filter(({ documented, expected }) => documented && 'requests' in expected)
      fc.assert(
        fc.property(anyEvent, fc.constantFrom(...given), (event, { config }) => {
          const before = JSON.stringify(event)
          const result = runTransform(destination, event as StoredEvent, config, metadata)
          expect(JSON.stringify(event)).toBe(before)
          if ('error' in result) {
            expect(result.error).not.toMatch(/not a function|Cannot read|is not iterable|call stack/)
            return
          }
          for (const request of result.requests) {
            expect(Object.keys(request)).toEqual(Object.keys(empty))
            expect(Object.keys(request.body)).toEqual(Object.keys(empty.body))
            expect(JSON.parse(JSON.stringify(request))).toStrictEqual(request)
            expect(URL.canParse(toWire(request, 'Millrace/1.2.3').url)).toBe(true)
          }
        }),
      )
    })

    test('no long secret is left in what is shown of a request', () => {
      for (const { event, config } of cases) {
        const result = runTransform(destination, event as StoredEvent, config, metadata)
        if ('error' in result) continue
        const secrets = [...secretValues(definition, config), ...result.derivedSecrets]
        const shown = JSON.stringify(new Masking(secrets).value(result.requests as unknown as JsonValue))
        for (const secret of secrets) if (secret.length >= 16) expect(shown).not.toContain(secret)
      }
    })

    test.each(cases.filter(({ batch }) => batch !== undefined))('$name, in a batch', ({ event, config, batch }) => {
      const { batches } = destination
      const requests = [event, ...batch!.events].map((each) => {
        const result = runTransform(destination, each as StoredEvent, config, metadata)
        if ('error' in result || result.requests.length !== 1) throw new Error('no request, or several')
        return result.requests[0]!
      })
      expect(batchLimitsOf(destination, config)!.maxEvents).toBeGreaterThanOrEqual(requests.length)
      expect(new Set(requests.map((request) => batchKeyOf(batches!, request)?.key)).size).toBe(1)
      const bodies = requests.map(jsonBody)
      expect(joinedRequest(batches!, requests, bodies, config)).toEqual(batch!.expected)
    })

    test.runIf(destination.batches !== undefined)('some case is a batch', () => {
      expect(cases.some(({ batch }) => batch !== undefined)).toBe(true)
    })

    test('a type of event that is not supported is told by its name', () => {
      const supported = config.supportedMessageTypes['cloud']!
      for (const type of EVENT_TYPES.filter((each) => !supported.includes(each))) {
        const result = runTransform(
          destination,
          { ...cases[0]!.event, type } as StoredEvent,
          cases[0]!.config,
          metadata,
        )
        expect(result).toEqual({ error: `message type ${type} not supported` })
      }
    })

    test.skipIf(config.hostKeys.length > 0)('no event chooses the host', () => {
      const steering = {
        fullPath: 'https://evil.example/',
        appendPath: '@evil.example',
        header: { host: 'evil.example' },
      }
      const hostsOf = (event: JsonObject, config: JsonObject) => {
        const result = runTransform(destination, event as StoredEvent, config, metadata)
        return 'error' in result ? [] : result.requests.map(({ endpoint }) => new URL(endpoint).host)
      }
      const hosts = new Set(cases.flatMap((each) => hostsOf(each.event, each.config)))
      expect(hosts).not.toContain('evil.example')
      fc.assert(
        fc.property(anyEvent, fc.constantFrom(...cases), (event, { config }) => {
          for (const host of hostsOf({ ...event, ...steering }, config)) expect(hosts).toContain(host)
        }),
      )
    })

    test.each(cases)('$name', ({ event, config, now, expected }) => {
      const refusal = now && refusalOf(destination, frozen(event) as StoredEvent, frozen(config), Date.parse(now))
      if (refusal) return expect({ error: refusal }).toStrictEqual(expected)
      const result = runTransform(destination, frozen(event) as StoredEvent, frozen(config), metadata)
      const { derivedSecrets: _, ...outcome } = result as { derivedSecrets?: string[] }
      expect(outcome).toStrictEqual(expected)
    })
  })
})

/** A deeply frozen copy: whoever tries to change it throws. */
function frozen<T>(value: T): T {
  return deepFreeze(structuredClone(value))
}

function deepFreeze<T>(value: T): T {
  if (Array.isArray(value) || isJsonObject(value)) {
    Object.values(value).forEach(deepFreeze)
    Object.freeze(value)
  }
  return value
}
