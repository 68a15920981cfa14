import { expect, test } from 'vitest'
import { readConfiguration } from './configuration.ts'

const read = (given: unknown) => readConfiguration('wk-1', given)
const URL = 'https://events.example.com'

test('without anything given the defaults hold', () => {
  expect(read({ dataPlaneUrl: URL })).toEqual({
    writeKey: 'wk-1',
    logLevel: 0,
    dataPlaneUrl: URL,
    controlPlaneUrl: URL,
    flushQueueSize: 30,
    dbThresholdCount: 10_000,
    sleepTimeout: 10,
    configRefreshInterval: 2,
    autoCollectAdvertId: false,
    trackLifecycleEvents: true,
    recordScreenViews: false,
    gzip: true,
    autoSessionTracking: true,
    sessionTimeout: 300,
    requireConsent: false,
    optOutQueue: 'keep',
    collectDeviceId: false,
    factories: undefined,
    warnings: [],
  })
})

test.each([
  [{ logLevel: 4 }, { logLevel: 4 }],
  [{ loglevel: 'debug' }, { logLevel: 4 }],
  [{ LOGLEVEL: 'None' }, { logLevel: 0 }],
  [{ dbThresholdCount: 5 }, { dbThresholdCount: 5 }],
  [{ dbCountThreshold: 6 }, { dbThresholdCount: 6 }],
  [{ sleepTimeout: 7 }, { sleepTimeout: 7 }],
  [{ sleepTimeOut: 8 }, { sleepTimeout: 8 }],
])('spelling %j', (given, expected) => {
  expect(read({ dataPlaneUrl: URL, ...given })).toMatchObject({ ...expected, warnings: [] })
})

test.each([
  ['the spelling of the table wins', { sleepTimeOut: 3, sleepTimeout: 4, SLEEPTIMEOUT: 5 }, 4],
  ['else the last one', { sleepTimeOut: 3, SLEEPTIMEOUT: 5 }, 5],
])('of several spellings %s', (_name, given, sleepTimeout) => {
  expect(read({ dataPlaneUrl: URL, ...given })).toMatchObject({
    sleepTimeout,
    warnings: ['DUPLICATE_OPTION:sleepTimeout'],
  })
})

test.each([
  [{ flushQueueSize: 0 }, 1],
  [{ flushQueueSize: '50' }, 50],
  [{ flushQueueSize: Number.NaN }, 30],
  [{ flushQueueSize: 5_000 }, 1_000],
  [{ flushQueueSize: 2.9 }, 2],
  [{ flushQueueSize: 'many' }, 30],
  [{ flushQueueSize: null }, 30],
])('%j is adjusted', (given, flushQueueSize) => {
  expect(read({ dataPlaneUrl: URL, ...given })).toMatchObject({
    flushQueueSize,
    warnings: ['ADJUSTED_OPTION:flushQueueSize'],
  })
})

test.each([
  ['true', true, []],
  ['false', false, []],
  [1, true, ['ADJUSTED_OPTION:gzip']],
  ['no', true, ['ADJUSTED_OPTION:gzip']],
])('a truth given as %j', (given, gzip, warnings) => {
  expect(read({ dataPlaneUrl: URL, gzip: given })).toMatchObject({ gzip, warnings })
})

test.each([
  ['https://example.com/', 'https://example.com', []],
  ['https://example.com/path//?q=1#f', 'https://example.com/path', []],
  ['http://example.com', 'http://example.com', ['INSECURE_URL']],
  ['events.example.com', 'https://events.example.com', ['ADJUSTED_OPTION:dataPlaneUrl']],
  ['localhost:8080', 'http://localhost:8080', ['ADJUSTED_OPTION:dataPlaneUrl', 'INSECURE_URL']],
  ['127.0.0.1:8080/x', 'http://127.0.0.1:8080/x', ['ADJUSTED_OPTION:dataPlaneUrl', 'INSECURE_URL']],
  ['[::1]:8080', 'http://[::1]:8080', ['ADJUSTED_OPTION:dataPlaneUrl', 'INSECURE_URL']],
  ['10.0.2.2', 'http://10.0.2.2', ['ADJUSTED_OPTION:dataPlaneUrl', 'INSECURE_URL']],
  ['localhost.example.com', 'https://localhost.example.com', ['ADJUSTED_OPTION:dataPlaneUrl']],
])('the address %s', (dataPlaneUrl, expected, warnings) => {
  expect(read({ dataPlaneUrl })).toMatchObject({ dataPlaneUrl: expected, controlPlaneUrl: expected, warnings })
})

test.each(['https://', 'https://a b', 'javascript://x', 'https://u@example.com', 'https://example.com:99999', '://x'])(
  'the address %j is refused',
  (dataPlaneUrl) => {
    expect(() => read({ dataPlaneUrl })).toThrow(expect.objectContaining({ code: 'INVALID_DATA_PLANE_URL' }))
  },
)

test('a controlPlaneUrl that cannot be used gives way to the dataPlaneUrl', () => {
  expect(read({ dataPlaneUrl: URL, controlPlaneUrl: 'no url at all' })).toMatchObject({
    controlPlaneUrl: URL,
    warnings: ['ADJUSTED_OPTION:controlPlaneUrl'],
  })
})

test.each([['x'], [7], [[]], [new Map()]])('a configuration that is no plain object is ignored: %j', (given) => {
  expect(read(given).warnings).toEqual(['INVALID_CONFIGURATION', 'NO_DATA_PLANE_URL'])
})

test('an unknown option is ignored with a warning, and a level that is undefined without one', () => {
  expect(read({ dataPlaneUrl: URL, colour: 1, logLevel: undefined }).warnings).toEqual(['UNKNOWN_OPTION:colour'])
})

test.each([
  'https://api.rudderstack.com',
  'https://api.rudderlabs.com/v1',
  'https://cdn-settings.segment.com',
  'https://api.segment.io',
])('controlPlaneUrl %s is of somebody else, and is not told the write key', (controlPlaneUrl) => {
  const { controlPlaneUrl: used, warnings } = readConfiguration('wk', {
    dataPlaneUrl: 'https://e.example',
    controlPlaneUrl,
  })
  expect([used, warnings]).toEqual(['https://e.example', ['ADJUSTED_OPTION:controlPlaneUrl']])
})

test('a warning is given once', () => {
  const urls = { dataPlaneUrl: 'http://a.example', controlPlaneUrl: 'http://b.example' }
  expect(readConfiguration('wk', urls).warnings).toEqual(['INSECURE_URL'])
})
