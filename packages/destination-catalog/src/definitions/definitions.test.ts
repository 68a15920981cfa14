import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import path from 'node:path'
import { Ajv } from 'ajv'
import { describe, expect, test } from 'vitest'
import { ALLOWED } from '../allow-list.ts'
import { packageDefinition } from '../package-modules.ts'
import { testCatalog } from '../testing/test-catalog.ts'
import { typeNameOf } from './entries.ts'
import { generatedFiles } from './generated-files.ts'

/** @see contracts/destination-catalog.md §14 [C56] */
const EXCLUDED =
  'kafka sftp s3 aws-s3 aws-kinesis amazon-eventbridge acoustic-s3tc the-trade-desk-crm liveramp-audiences segment segment-profiles memora-internal engage-messaging-sendgrid engage-messaging-twilio noop google-sheets-dev tiktok-conversions-sandbox tiktok-offline-conversions-sandbox bing-ads-audiences criteo twilio-studio ambee'.split(
    ' ',
  )

const require = createRequire(import.meta.url)
const modules = path.resolve(import.meta.dirname, '../../../../node_modules')

test('all 108 listed entries load by their slug, and nobody loads the index of the package', () => {
  const slugs = Object.keys(ALLOWED)
  expect(slugs).toHaveLength(108)
  expect(slugs.filter((slug) => ALLOWED[slug]!.needsMapping !== true)).toHaveLength(65)
  for (const slug of slugs) expect(Object.keys(packageDefinition(slug).actions), slug).not.toEqual([])
  const index = require.resolve('@segment/action-destinations/dist/index.js')
  expect(Object.keys(require.cache)).not.toContain(index)
})

test('the generated descriptions are those of the installed packages', () => {
  const stale = [...generatedFiles()].filter(([file, text]) => {
    const place = path.join(import.meta.dirname, file)
    return !existsSync(place) || readFileSync(place, 'utf8') !== text
  })
  expect(stale.map(([file]) => `${file} is stale: run npm run catalog:generate`)).toEqual([])
  expect(readdirSync(path.join(import.meta.dirname, 'actions'))).toHaveLength(108)
})

test('the slim installation has no code of AWS, Kafka and SFTP, no install script, and the undeclared xml-js', () => {
  const lock = JSON.parse(readFileSync(path.join(modules, '../package-lock.json'), 'utf8')) as {
    packages: Record<string, { name?: string; version?: string; hasInstallScript?: boolean }>
  }
  const replaced = [
    '@aws-sdk/client-eventbridge',
    '@aws-sdk/client-kinesis',
    '@aws-sdk/client-s3',
    '@aws-sdk/client-sts',
  ]
  for (const name of [...replaced, 'kafkajs', 'ssh2-sftp-client']) {
    expect(lock.packages[`node_modules/${name}`]?.name, name).toBe('empty-npm-package')
  }
  const names = Object.keys(lock.packages)
  expect(names.filter((name) => /(^|\/)(@smithy\/|ssh2$|cpu-features$)/.test(name))).toEqual([])
  expect(lock.packages['node_modules/xml-js']?.version).toBe('1.6.11')
  expect(require.resolve('xml-js')).toContain('xml-js')
  expect(isAtLeast(lock.packages['node_modules/liquidjs']!.version!, [10, 27, 1])).toBe(true)
  expect(isAtLeast(lock.packages['node_modules/fast-uri']!.version!, [3, 1, 4])).toBe(true)
})

test('every package of the tree has a licence that is allowed', () => {
  const { packages } = JSON.parse(readFileSync(path.join(modules, '../package-lock.json'), 'utf8')) as {
    packages: Record<string, { license?: string; dependencies?: Record<string, string> }>
  }
  const seen = new Set<string>()
  const visit = (place: string) => {
    if (seen.has(place)) return
    seen.add(place)
    for (const name of Object.keys(packages[place]!.dependencies ?? {})) {
      const nested = `${place}/node_modules/${name}`
      visit(packages[nested] === undefined ? `node_modules/${name}` : nested)
    }
  }
  visit('node_modules/@segment/action-destinations')
  const allowed = /^(MIT|Apache-2\.0|BSD-[23]-Clause|ISC|0BSD|Unlicense|BlueOak-1\.0\.0)$/
  const others = [...seen].filter((place) => {
    // MIT by its README.
    if (place === 'node_modules/@segment/fql-ts') return false
    const named = (packages[place]!.license ?? '').replace(/[()]/g, '').split(/ AND | OR /)
    return !named.every((licence) => allowed.test(licence))
  })
  expect(others).toEqual([])
  expect(seen.size).toBeGreaterThan(50)
})

test('the licences of the packages are in NOTICE', () => {
  const notice = readFileSync(path.join(modules, '../NOTICE'), 'utf8')
  expect(notice).toContain('@segment/action-destinations')
  expect(notice).toContain('Copyright (c) 2025 Segment')
  expect(notice).toContain('Permission is hereby granted, free of charge')
})

describe('definitions', () => {
  const catalog = testCatalog()
  const definitions = catalog.names().map((name) => catalog.describe(name)!)

  test('every listed entry is a type with its settings and the reserved variables', () => {
    expect(definitions).toHaveLength(108)
    for (const { defaultConfig, options } of definitions) {
      const fields = Object.keys(packageDefinition(options.slug).authentication?.fields ?? {})
      expect(defaultConfig.slice(0, fields.length), options.slug).toEqual(fields)
      expect(defaultConfig).toContain('subscriptions')
    }
    const loops = catalog.describe('CATALOG_LOOPS')!
    expect(loops.displayName).toBe('Loops')
    expect(loops.config.secretKeys).toEqual(['apiKey'])
    expect(loops.defaultConfig).toEqual(['apiKey', 'subscriptions', 'vendorLabels'])
  })

  test('excluded entries and those of other classes are unknown', () => {
    expect(EXCLUDED).toHaveLength(22)
    for (const slug of [...EXCLUDED, 'hubspot', 'salesforce', 'accoil-analytics', 'attio']) {
      expect(catalog.describe(typeNameOf(slug)), slug).toBeUndefined()
    }
  })

  test('ids and display names are unique, and no display name is the original one of another entry', () => {
    const names = definitions.map(({ displayName }) => displayName)
    const aliases = definitions.flatMap(({ options }) => options.aliases)
    expect(new Set([...names, ...aliases]).size).toBe(names.length + aliases.length)
    expect(new Set(definitions.map(({ id }) => id)).size).toBe(108)
    for (const { id } of definitions) expect(id).toMatch(/^[0-9A-Za-z]{27}$/)
    expect(names.filter((name) => /segment/i.test(name))).toEqual([])
  })

  test('every configSchema compiles, and refuses empty settings where some are required', () => {
    const ajv = new Ajv({ strict: false, validateFormats: false })
    for (const { configSchema, options } of definitions) {
      const validate = ajv.compile(configSchema)
      const { required } = configSchema as { required: string[] }
      expect(validate({}), options.slug).toBe(required.length === 0)
    }
  })

  test('no settings field has the name of a reserved or a common variable', () => {
    const taken = ['subscriptions', 'oauth', 'partnerSecrets', 'partnerEndpointAcknowledged', 'vendorLabels']
    for (const { defaultConfig, config, options } of definitions) {
      const names = [...taken, ...config.commonConfig]
      const fields = Object.keys(packageDefinition(options.slug).authentication?.fields ?? {})
      expect(
        fields.filter((name) => names.includes(name)),
        options.slug,
      ).toEqual([])
      expect(new Set(defaultConfig).size).toBe(defaultConfig.length)
    }
  })

  test('a vendor named as host or credential is known as such', () => {
    const { config } = catalog.describe('CATALOG_SLACK')!
    expect(config.secretKeys).toEqual(['subscriptions.*.mapping.url'])
    expect(config.hostKeys).toEqual(['subscriptions.*.mapping.url'])
    expect(catalog.describe('CATALOG_BRAZE')!.config.hostKeys).toContain('endpoint')
  })

  test.each([
    ['algolia-insights', 'appId'],
    ['kevel', 'networkId'],
    ['singlestore', 'port'],
    ['adobe-target', 'client_code'],
    ['1plusx', 'client_id'],
  ])('%s puts %s into the host of its requests', (slug, name) => {
    expect(catalog.describe(typeNameOf(slug))!.config.hostKeys).toContain(name)
  })
})

function isAtLeast(version: string, bound: readonly [number, number, number]): boolean {
  const parts = version.split('.').map(Number)
  const at = bound.findIndex((number, i) => number !== parts[i])
  return at === -1 || parts[at]! > bound[at]!
}
