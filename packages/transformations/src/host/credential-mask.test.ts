import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { CredentialMask } from './credential-mask.ts'

// Promises of contracts/transformations.md §4: values of credentials are in no log and in no failure text.

const SECRET = 'pässwörd/+&"of the credential'

const encodings: Readonly<Record<string, (text: string) => string>> = {
  plain: (text) => text,
  json: (text) => JSON.stringify({ a: text }),
  uri: encodeURIComponent,
  'a whole URI': encodeURI,
  'a form': (text) => new URLSearchParams({ a: text }).toString(),
  'lower-case URI': (text) => encodeURIComponent(text).replace(/%../g, (byte) => byte.toLowerCase()),
  hex: (text) => Buffer.from(text).toString('hex'),
  'upper-case hex': (text) => Buffer.from(text).toString('hex').toUpperCase(),
  base64: (text) => Buffer.from(text).toString('base64'),
  base64url: (text) => Buffer.from(text).toString('base64url'),
  btoa: (text) => btoa(text),
}

describe.each(Object.entries(encodings))('a credential in %s', (_, encode) => {
  const mask = new CredentialMask([SECRET])

  test.each(['', 'u:', 'user:', 'another one:'])(
    'is masked behind "%s", and what stands around it is not',
    (before) => {
      const own = encode(SECRET)
      const shown = mask.logLine(`Log: a ${encode(`${before}${SECRET}, and more`)} b`)
      expect(shown).toMatch(/^Log: a .*\*{8}.* b$/)
      // Not even a part of it that would be of use.
      for (let at = 0; at + 8 <= own.length; at++) expect(shown).not.toContain(own.slice(at, at + 8))
    },
  )
})

test('one that the end of a line cuts is masked as well', () => {
  const mask = new CredentialMask([SECRET])
  for (let kept = 4; kept < SECRET.length; kept++) {
    const line = `Log: ${'x'.repeat(4_096 - 5 - Buffer.byteLength(SECRET.slice(0, kept)))}${SECRET.slice(0, kept)}`
    expect(mask.logLine(line)).not.toContain(SECRET.slice(0, 4))
  }
  expect(mask.failure(`${'x'.repeat(8_192 - 10)}${SECRET.slice(0, 10)}`)).not.toContain(SECRET.slice(0, 4))
})

test('any value is masked, also a short one, and a failure text keeps its bound', () => {
  fc.assert(
    fc.property(fc.string({ minLength: 1, unit: 'binary' }), fc.string(), fc.string(), (value, before, after) => {
      fc.pre(!'********'.includes(value) && !`${before}${after}`.includes(value[0]!))
      expect(new CredentialMask([value]).logLine(before + value + after)).not.toContain(value)
    }),
  )
  expect(new CredentialMask(['a']).failure('a'.repeat(8_192)).length).toBe(8_192)
})

test('of several values the longer ones go first', () => {
  expect(new CredentialMask(['key', 'key-of-more']).logLine('key-of-more key')).toBe('******** ********')
})
