import type { JsonObject } from '@millrace/protocol'
import { expect, test } from 'vitest'
import {
  CLIENT_CERTIFICATE,
  CLIENT_KEY,
  ENCRYPTED_KEY,
  EXPIRED_CERTIFICATE,
  FUTURE_CERTIFICATE,
  OTHER_KEY,
} from '../certificates-under-test.ts'
import { DestinationRegistry } from '../registry.ts'
import { MASK, maskConfig, secretValues } from './secrets.ts'
import { clientCertificate } from './tls.ts'

const registry = await DestinationRegistry.load({ now: () => Date.parse('2026-03-04T09:00:00.000Z') })
const webhook = registry.find('WEBHOOK')!
const faultsIn = (config: JsonObject) =>
  registry.faultsIn(webhook, { webhookUrl: 'https://hooks.cinema.example/in', ...config })
const own = { tlsCertificate: CLIENT_CERTIFICATE, tlsKey: CLIENT_KEY }
const onOneLine = (pem: string) => pem.replaceAll('\n', '')

test.each<[string, JsonObject]>([
  ['a certificate and its key', own],
  ['a certificate with the chain behind it', { ...own, tlsCertificate: CLIENT_CERTIFICATE + EXPIRED_CERTIFICATE }],
  ['an encrypted key with its passphrase', { ...own, tlsKey: ENCRYPTED_KEY, tlsKeyPassphrase: 'opensesame' }],
  ['text before the blocks', { ...own, tlsCertificate: `Subject: CN=millrace\n${CLIENT_CERTIFICATE}` }],
  ['Windows line ends', { ...own, tlsKey: CLIENT_KEY.replaceAll('\n', '\r\n') }],
  ['lost line ends', { tlsCertificate: onOneLine(CLIENT_CERTIFICATE), tlsKey: onOneLine(CLIENT_KEY) }],
  ['spaces in place of line ends', { ...own, tlsKey: CLIENT_KEY.replaceAll('\n', ' ') }],
  ['only the authority of the server', { tlsCa: CLIENT_CERTIFICATE }],
  ['a masked key, which is checked where its value is known', { ...own, tlsKey: MASK }],
  ['empty variables', { tlsCertificate: '', tlsKey: ' ', tlsKeyPassphrase: '', tlsCa: '' }],
])('a config may hold %s', (_, config) => {
  expect(faultsIn(config)).toEqual([])
})

const isNoCertificate = 'must be a certificate in PEM form: -----BEGIN CERTIFICATE----- …'
const isNoKey = 'must be a private key in PEM form: -----BEGIN PRIVATE KEY----- …'
test.each<[path: string, message: string, config: JsonObject]>([
  ['/tlsCertificate', isNoCertificate, { ...own, tlsCertificate: 'millrace.crt' }],
  ['/tlsCertificate', isNoCertificate, { ...own, tlsCertificate: CLIENT_CERTIFICATE.replace('MII', 'AAA') }],
  ['/tlsCertificate', isNoCertificate, { ...own, tlsCertificate: CLIENT_KEY }],
  ['/tlsCertificate', 'expired on 2021-01-01', { ...own, tlsCertificate: EXPIRED_CERTIFICATE }],
  ['/tlsCertificate', 'is not valid before 2125-01-01', { ...own, tlsCertificate: FUTURE_CERTIFICATE }],
  ['/tlsCertificate', 'is required with tlsKey', { tlsKey: CLIENT_KEY }],
  ['/tlsKey', 'is required with tlsCertificate', { tlsCertificate: CLIENT_CERTIFICATE }],
  ['/tlsKey', isNoKey, { ...own, tlsKey: CLIENT_CERTIFICATE }],
  [
    '/tlsKey',
    'cannot be read: it is cut off, or of an unknown kind',
    { ...own, tlsKey: CLIENT_KEY.replace('MIG', 'AAA') },
  ],
  ['/tlsKey', 'does not belong to tlsCertificate', { ...own, tlsKey: OTHER_KEY }],
  ['/tlsKeyPassphrase', 'is required: tlsKey is encrypted', { ...own, tlsKey: ENCRYPTED_KEY }],
  ['/tlsKeyPassphrase', 'does not decrypt tlsKey', { ...own, tlsKey: ENCRYPTED_KEY, tlsKeyPassphrase: 'closed' }],
  ['/tlsCa', 'must be certificates in PEM form: -----BEGIN CERTIFICATE----- …', { tlsCa: 'ca.pem' }],
])('a config is refused at %s: %s', (path, message, config) => {
  expect(faultsIn(config)).toEqual([{ path, message }])
})

test('key and passphrase are secret, certificate and authority are not', () => {
  const config = { ...own, tlsKeyPassphrase: 'opensesame', tlsCa: CLIENT_CERTIFICATE }
  const shown = { ...config, tlsKey: MASK, tlsKeyPassphrase: MASK }
  expect(maskConfig(webhook.definition, config)).toEqual(shown)
  expect(secretValues(webhook.definition, config)).toEqual(expect.arrayContaining([CLIENT_KEY, 'opensesame']))
})

test('a connection gets PEM with its lines, however it was saved', () => {
  const saved = { tlsCertificate: onOneLine(CLIENT_CERTIFICATE), tlsKey: onOneLine(CLIENT_KEY) }
  expect(clientCertificate(saved)).toEqual({
    identity: { certificate: CLIENT_CERTIFICATE, key: CLIENT_KEY },
    authorities: undefined,
  })
  expect(() => clientCertificate({ tlsKey: CLIENT_KEY })).toThrow('tlsCertificate is missing')
  expect(() => clientCertificate({ tlsCertificate: CLIENT_CERTIFICATE })).toThrow('tlsKey is missing')
})
