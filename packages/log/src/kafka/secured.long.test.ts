import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { noteOf, readAll, testRecord } from '../conformance.ts'
import type { KafkaCluster } from '../kafka-brokers/index.ts'
import { newPrefix, openLog, startKafka } from './testing/test-kafka.ts'

const PASSWORD = 'store-password'
const folder = mkdtempSync(path.join(tmpdir(), 'millrace-kafka-tls-'))
const store = path.join(folder, 'broker.p12')
const certificate = path.join(folder, 'broker.pem')

let kafka: KafkaCluster
beforeAll(async () => {
  const key = ['-alias', 'broker', '-keystore', store, '-storetype', 'PKCS12', '-storepass', PASSWORD]
  keytool('-genkeypair', ...key, '-keyalg', 'EC', '-dname', 'CN=broker', '-ext', 'san=ip:127.0.0.1', '-validity', '2')
  keytool('-exportcert', ...key, '-rfc', '-file', certificate)
  const plain = 'org.apache.kafka.common.security.plain.PlainLoginModule required'
  kafka = await startKafka({
    brokers: 1,
    protocol: 'SASL_SSL',
    settings: {
      'sasl.enabled.mechanisms': 'PLAIN',
      'sasl.mechanism.inter.broker.protocol': 'PLAIN',
      'listener.name.sasl_ssl.plain.sasl.jaas.config': `${plain} username="millrace" password="right" user_millrace="right";`,
      'ssl.keystore.location': store,
      'ssl.keystore.password': PASSWORD,
      'ssl.keystore.type': 'PKCS12',
      'ssl.truststore.location': store,
      'ssl.truststore.password': PASSWORD,
      'ssl.truststore.type': 'PKCS12',
    },
  })
})
afterAll(async () => {
  await kafka[Symbol.asyncDispose]()
  rmSync(folder, { recursive: true, force: true })
})

test('TLS with a given authority, and a user with a password', async () => {
  await using log = await openLog(kafka, { kafka: secured('right') })
  await log.append(0, 'live', testRecord('source-a', 'x'))
  expect((await readAll(log, 0, 'live')).map(noteOf)).toEqual(['x'])
})

test('a wrong password and an unknown authority are refused, and say what it was', async () => {
  const prefix = newPrefix()
  const [password, authority] = await Promise.allSettled([
    openLog(kafka, { prefix, kafka: secured('wrong'), startMs: 1_000 }),
    openLog(kafka, { prefix, kafka: { ...secured('right'), tls: {} }, startMs: 1_000 }),
  ])
  expect([password.status, authority.status]).toEqual(['rejected', 'rejected'])
  expect((password as PromiseRejectedResult).reason.message).toMatch(/^no broker answers: .*SASL authentication failed/)
  expect((authority as PromiseRejectedResult).reason.message).toMatch(/^no broker answers: .*self-signed certificate/)
  expect((password as PromiseRejectedResult).reason.message).not.toContain('wrong')
})

function secured(password: string) {
  const sasl = { mechanism: 'PLAIN', username: 'millrace', password } as const
  return { brokers: kafka.addresses, tls: { ca: readFileSync(certificate) }, sasl }
}

function keytool(...parts: string[]): void {
  execFileSync('keytool', parts, { stdio: 'pipe' })
}
