import { createPrivateKey, X509Certificate } from 'node:crypto'
import type { ClientCertificate, JsonObject } from '@millrace/protocol'
import type { ConfigFault } from './config-fault.ts'
import { pemBlocks, plainPem } from './pem.ts'
import { MASK } from './secrets.ts'

/** Variables of a type whose connections may be made with a client certificate. */
export const TLS_VARIABLES = ['tlsCertificate', 'tlsKey', 'tlsKeyPassphrase', 'tlsCa']
export const TLS_SECRET_KEYS = ['tlsKey', 'tlsKeyPassphrase']

/** Tells the form that the text has several lines. */
const PEM_TYPE = 'application/x-pem-file'

export const TLS_PROPERTIES: JsonObject = {
  tlsCertificate: { type: 'string', contentMediaType: PEM_TYPE },
  tlsKey: { type: 'string' },
  tlsKeyPassphrase: { type: 'string' },
  tlsCa: { type: 'string', contentMediaType: PEM_TYPE },
}

export const TLS_FIELDS: JsonObject[] = [
  {
    key: 'tlsCertificate',
    label: 'Client certificate',
    help: 'PEM, for servers that require one (mutual TLS); intermediate certificates may follow it.',
  },
  { key: 'tlsKey', label: 'Private key of the certificate', help: 'PEM.' },
  { key: 'tlsKeyPassphrase', label: 'Passphrase of the key', help: 'Only for an encrypted key.' },
  {
    key: 'tlsCa',
    label: 'Server authority',
    help: 'PEM. Only certificates of these authorities are accepted from the server, in place of the public ones.',
  },
]

/**
 * The client certificate of a configuration, and the authorities of its server; undefined for neither.
 *
 * @throws Error if the certificate or its key is missing.
 */
export function clientCertificate(config: JsonObject): ClientCertificate | undefined {
  const [certificate, key, passphrase, authorities] = TLS_VARIABLES.map((variable) => textOf(config, variable))
  if (certificate === undefined && key === undefined && authorities === undefined) return undefined
  if (certificate === undefined && key !== undefined) throw new Error('tlsCertificate is missing')
  if (certificate !== undefined && key === undefined) throw new Error('tlsKey is missing')
  return {
    identity:
      certificate === undefined || key === undefined
        ? undefined
        : {
            certificate: plainPem(certificate),
            key: plainPem(key),
            ...(passphrase === undefined ? {} : { passphrase }),
          },
    authorities: authorities && plainPem(authorities),
  }
}

/** What is wrong with certificate, key and authorities of a configuration; a mask is taken for what it stands for. */
export function certificateFaults(config: JsonObject, nowMs: number): ConfigFault[] {
  const [certificate, key, passphrase, authorities] = TLS_VARIABLES.map((variable) => textOf(config, variable))
  const faults: ConfigFault[] = []
  const fault = (variable: string, message: string) => faults.push({ path: `/${variable}`, message })
  if (authorities !== undefined && certificatesIn(authorities) === undefined) {
    fault('tlsCa', 'must be certificates in PEM form: -----BEGIN CERTIFICATE----- …')
  }
  if (certificate === undefined) {
    if (key !== undefined) fault('tlsCertificate', 'is required with tlsKey')
    return faults
  }
  const [own] = certificatesIn(certificate) ?? []
  if (own === undefined) fault('tlsCertificate', 'must be a certificate in PEM form: -----BEGIN CERTIFICATE----- …')
  else if (own.validToDate.getTime() < nowMs) fault('tlsCertificate', `expired on ${dayOf(own.validToDate)}`)
  else if (own.validFromDate.getTime() > nowMs) {
    fault('tlsCertificate', `is not valid before ${dayOf(own.validFromDate)}`)
  }
  if (key === undefined) fault('tlsKey', 'is required with tlsCertificate')
  else if (key !== MASK && passphrase !== MASK) faults.push(...keyFaults(key, passphrase, own))
  return faults
}

function keyFaults(key: string, passphrase: string | undefined, certificate: X509Certificate | undefined) {
  const [label] = pemBlocks(key)
  if (label === undefined || !label.endsWith('PRIVATE KEY')) {
    return [{ path: '/tlsKey', message: 'must be a private key in PEM form: -----BEGIN PRIVATE KEY----- …' }]
  }
  try {
    const read = createPrivateKey({ key: plainPem(key), ...(passphrase === undefined ? {} : { passphrase }) })
    if (certificate === undefined || certificate.checkPrivateKey(read)) return []
    return [{ path: '/tlsKey', message: 'does not belong to tlsCertificate' }]
  } catch {
    const isEncrypted = label.startsWith('ENCRYPTED') || key.includes('ENCRYPTED')
    if (!isEncrypted) return [{ path: '/tlsKey', message: 'cannot be read: it is cut off, or of an unknown kind' }]
    const message = passphrase === undefined ? 'is required: tlsKey is encrypted' : 'does not decrypt tlsKey'
    return [{ path: '/tlsKeyPassphrase', message }]
  }
}

/** The certificates of a PEM text; undefined if it holds none, or one that cannot be read. */
function certificatesIn(pem: string): X509Certificate[] | undefined {
  const labels = pemBlocks(pem)
  if (labels.length === 0 || labels.some((label) => label !== 'CERTIFICATE')) return undefined
  try {
    const blocks = plainPem(pem).split(/(?<=-----END CERTIFICATE-----\n)/)
    return blocks.map((block) => new X509Certificate(block))
  } catch {
    return undefined
  }
}

function textOf(config: JsonObject, variable: string): string | undefined {
  const value = config[variable]
  return typeof value === 'string' && value.trim() !== '' ? value : undefined
}

function dayOf(date: Date): string {
  return date.toISOString().slice(0, 10)
}
