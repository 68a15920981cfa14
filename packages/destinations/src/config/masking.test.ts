import type { JsonValue } from '@millrace/protocol'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { Masking } from './masking.ts'
import { MASK } from './secrets.ts'

const long = 'k7Rw2-ö/"+? secret'

/** The ways in which a secret is written elsewhere. */
const forms: Record<string, (secret: string) => string> = {
  'as it is': (secret) => secret,
  'in base64': (secret) => Buffer.from(secret).toString('base64'),
  'in base64 without padding': (secret) => Buffer.from(secret).toString('base64').replace(/=+$/, ''),
  'in base64url': (secret) => Buffer.from(secret).toString('base64url'),
  'in hex': (secret) => Buffer.from(secret).toString('hex'),
  'in hex, upper case': (secret) => Buffer.from(secret).toString('hex').toUpperCase(),
  'in a form': (secret) => encodeURIComponent(secret.toWellFormed()).replaceAll('%20', '+'),
  'percent-encoded, lower case': (secret) =>
    encodeURIComponent(secret.toWellFormed()).replace(/%../g, (code) => code.toLowerCase()),
  'percent-encoded': (secret) => encodeURIComponent(secret.toWellFormed()),
  'in JSON text': (secret) => JSON.stringify(secret).slice(1, -1),
}

describe.each(Object.entries(forms))('a secret %s', (_, form) => {
  test('is masked inside longer text', () => {
    const text = `before ${form(long)} between ${form(long)} after`
    expect(new Masking([long]).text(text)).toBe(`before ${MASK} between ${MASK} after`)
  })

  test('is masked as a whole text however short it is', () => {
    expect(new Masking(['7Hq2']).text(form('7Hq2'))).toBe(MASK)
  })
})

test.each(['', 'u:', 'user:', 'another one:'])(
  'a secret is masked in the base64 of a text that has %j before it',
  (before) => {
    for (const encode of [(text: string) => Buffer.from(text).toString('base64'), btoa]) {
      const own = encode(long)
      const shown = new Masking([long]).text(`Basic ${encode(`${before}${long}, and more`)}`)
      expect(shown).toContain(MASK)
      // Not even a part of it that would be of use.
      for (let at = 0; at + 8 <= own.length; at++) expect(shown).not.toContain(own.slice(at, at + 8))
    }
  },
)

test('a secret under 8 characters is not masked inside longer text, but in forms of 16 characters', () => {
  const masking = new Masking(['s3crets'])
  expect(masking.text('s3crets')).toBe(MASK)
  expect(masking.text('s3crets.')).toBe('s3crets.')
  expect(new Masking(['s3crets!']).text('the s3crets!.')).toBe(`the ${MASK}.`)
  expect(new Masking(['\u{10348}\u{10348}']).text('a=%F0%90%8D%88%F0%90%8D%88.')).toBe(`a=${MASK}.`)
})

test('values are masked in members, names, lists, and as numbers and booleans', () => {
  const value = { [long]: 1, a: [`x${long}`, { b: long }], pin: 4711, yes: true, none: null, other: 4712 }
  expect(new Masking([long, '4711', 'true']).value(value)).toStrictEqual({
    [MASK]: 1,
    a: [`x${MASK}`, { b: MASK }],
    pin: MASK,
    yes: MASK,
    none: null,
    other: 4712,
  })
})

test('without secrets, and for an empty one, nothing is masked', () => {
  for (const masking of [new Masking([]), new Masking([''])]) {
    expect(masking.value({ a: '', b: 'x' })).toEqual({ a: '', b: 'x' })
  }
})

test('user, password and secret parameters of an address are masked however short they are, and nothing else of it', () => {
  const masking = new Masking(['pw', 'desk'])
  expect(masking.address('https://desk:pw@hooks.example/pw?a=pw&key=pw')).toBe(
    `https://${MASK}:${MASK}@hooks.example/pw?a=pw&key=${MASK}`,
  )
  expect(masking.address('https://desk@hooks.example/desk')).toBe(`https://${MASK}@hooks.example/desk`)
  expect(masking.address('https://ada:open@hooks.example/')).toBe('https://ada:open@hooks.example/')
  expect(masking.address('pw')).toBe(MASK)
})

test('a secret that is part of another leaves nothing of the longer one', () => {
  const masking = new Masking(['sixteen-letters!', 'sixteen-letters!-and-more'])
  expect(masking.text('x sixteen-letters!-and-more y')).toBe(`x ${MASK} y`)
})

test('characters with a meaning in patterns are ordinary ones', () => {
  expect(new Masking(['.*.*.*.*.*.*.*.*$']).text('sixteen letters and more')).toBe('sixteen letters and more')
  expect(new Masking(['(((((((((((((((((']).text('a (((((((((((((((((')).toBe(`a ${MASK}`)
})

test('no secret of 8 or more characters comes through in any form, wherever it stands', () => {
  // Secrets with an asterisk are left out: a mask and what stands beside it could look like one.
  const secret = fc.string({ minLength: 8, maxLength: 40, unit: 'binary' }).filter((text) => !text.includes('*'))
  const piece = fc.tuple(fc.nat(), fc.constantFrom(...Object.values(forms)), fc.string(), fc.string())
  const inputs = fc.tuple(fc.array(secret, { minLength: 1, maxLength: 4 }), fc.array(piece, { maxLength: 6 }))
  fc.assert(
    fc.property(inputs, ([secrets, pieces]) => {
      const texts = pieces.map(([n, form, before, after]) => before + form(secrets[n % secrets.length]!) + after)
      const value: JsonValue = { list: texts, joined: texts.join(''), ...Object.fromEntries(texts.map((t) => [t, 1])) }
      const shown = textsIn(new Masking(secrets).value(value))
      const leaks = secrets.flatMap((each) => Object.values(forms).map((form) => form(each)))
      expect(shown.filter((text) => leaks.some((leak) => text.includes(leak)))).toEqual([])
    }),
  )
})

function textsIn(value: JsonValue): string[] {
  if (typeof value === 'string') return [value]
  if (typeof value !== 'object' || value === null) return []
  return Array.isArray(value)
    ? value.flatMap(textsIn)
    : [...Object.keys(value), ...Object.values(value).flatMap(textsIn)]
}
