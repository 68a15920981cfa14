import fc from 'fast-check'

/** The texts of a batch: put together in their order, with the white space between them, they are its body. */
export interface BatchParts {
  /** The last member `batch` has the elements; earlier ones are decoys. */
  readonly members: readonly { readonly name: string; readonly text: string }[]
  readonly elements: readonly string[]
  /** Written in turn wherever JSON allows white space outside of members and elements. */
  readonly spaces: readonly string[]
}

export function textOf({ members, elements, spaces }: BatchParts): string {
  let turn = 0
  const space = () => spaces[turn++ % spaces.length]!
  const list = (items: readonly string[]) => items.map((item) => `${space()}${item}${space()}`).join(',')
  const last = members.findLastIndex(({ name }) => name === 'batch')
  const texts = members.map(({ text }, i) => (i === last ? `${text}[${list(elements)}]` : text))
  return `${space()}{${list(texts)}}${space()}`
}

/** Batches of events that pass every check, written in every way that JSON allows. */
export function batchParts(): fc.Arbitrary<BatchParts> {
  return fc
    .record({
      before: fc.array(member, { maxLength: 4 }),
      after: fc.array(
        member.filter(({ name }) => name !== 'batch'),
        { maxLength: 3 },
      ),
      batch: nameText('batch'),
      gap: space,
      elements: fc.array(elementText, { minLength: 1, maxLength: 12 }),
      spaces: fc.array(space, { minLength: 3, maxLength: 9 }),
    })
    .map(({ before, after, batch, gap, elements, spaces }) => ({
      members: [...before, { name: 'batch', text: `${batch}${gap}:${gap}` }, ...after],
      elements,
      spaces,
    }))
}

const space = fc.array(fc.constantFrom(' ', '\n', '\t', '\r'), { maxLength: 2 }).map((all) => all.join(''))

const characters = fc.oneof(
  fc.constantFrom('a', 'Z', '7', ' ', '/', 'é', '日', '😀', '\u2028', '\u007f', '{', '}', '[', ']', ',', ':', 'batch'),
  fc.constantFrom('\\"', '\\\\', '\\/', '\\n', '\\u0041', '\\u0000', '\\ud83d\\ude00', '\\ud800', '\\"batch\\":['),
)
const textContent = fc.array(characters, { maxLength: 8 }).map((all) => all.join(''))
/**
 * Without backslashes of its own: after a name with one, JSON.parse can read another name that has an escape as that
 * one (nodejs/node#63785).
 */
const nameContent = textContent.map((content) => content.replaceAll('\\\\', '/'))

/** A name in quotes, some of its characters escaped. */
function nameText(name: string): fc.Arbitrary<string> {
  return fc.array(fc.boolean(), { minLength: name.length, maxLength: name.length }).map((isEscaped) => {
    const written = [...name].map((character, i) => {
      return isEscaped[i] ? `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}` : character
    })
    return `"${written.join('')}"`
  })
}

const { value } = fc.letrec<{ value: string; array: string; object: string }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small' },
    fc.constantFrom('0', '-0', '-1.5e-3', '1e999', '12345678901234567890', 'true', 'false', 'null', '""'),
    textContent.map((content) => `"${content}"`),
    tie('array'),
    tie('object'),
  ),
  array: fc
    .tuple(fc.array(tie('value'), { maxLength: 3 }), space)
    .map(([items, gap]) => `[${gap}${items.join(`${gap},`)}]`),
  object: fc
    .tuple(fc.array(fc.tuple(nameContent, tie('value')), { maxLength: 3 }), space)
    .map(
      ([members, gap]) =>
        `{${gap}${members.map(([name, text]) => `"${name}"${gap}:${gap}${text}`).join(`${gap},`)}${gap}}`,
    ),
}))

function memberOf(name: string, values: fc.Arbitrary<string>): fc.Arbitrary<{ name: string; text: string }> {
  return fc
    .tuple(nameText(name), space, space, values)
    .map(([written, before, after, text]) => ({ name, text: `${written}${before}:${after}${text}` }))
}

const time = fc.constantFrom('"2026-03-04T09:15:28.400Z"', '"soon"', '7')
const member = fc.oneof(
  memberOf('context', value),
  memberOf('integrations', value),
  memberOf('sentAt', time),
  memberOf('attempt', fc.constantFrom('"exit"', '"first"', '1')),
  memberOf('writeKey', value),
  memberOf('batch', value),
  memberOf('batches', value),
  nameContent.map((content) => ({ name: '', text: `"x${content}":[${'{'}"batch":[1,2]}]` })),
)

const hostile = fc.oneof(
  ...['__proto__', 'constructor', '_metadata', 'type', 'receivedAt'].map((name) => memberOf(name, value)),
)
const messageIds = ['"m-1"', '" m-2 "', '""', '"\\ud800"', '"\\u00a0"', '5']
const ids = fc.constantFrom(
  '1e999',
  '"ada"',
  '" ada"',
  '"\\u0061da"',
  '"bob"',
  '7',
  '"7"',
  '"eve\\n"',
  '"日本"',
  '"😀"',
)
/** An event that passes every check. */
export const elementText = fc
  .record({
    type: memberOf('type', fc.constantFrom('"track"', '"identify"', '"p\\u0061ge"')),
    id: fc.oneof(memberOf('userId', ids), memberOf('anonymousId', ids)),
    otherId: fc.option(memberOf('userId', fc.oneof(ids, fc.constantFrom('""', 'true')))),
    others: fc.array(fc.oneof(member, hostile, memberOf('messageId', fc.constantFrom(...messageIds))), {
      maxLength: 3,
    }),
    gap: space,
  })
  // Members whose names are repeated come first: the last one counts.
  .map(({ type, id, otherId, others, gap }) => {
    const all = [...others, ...(otherId === null ? [] : [otherId]), id, type].map(({ text }) => text)
    return `{${gap}${all.join(`${gap},`)}${gap}}`
  })
