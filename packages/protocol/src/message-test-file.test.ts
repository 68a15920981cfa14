import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type MessageTest, messageTestFileText, readMessageTestFile } from './message-test-file.ts'

const FILE = `# Bookings
tests:
  - name: cents are added
    destination: booking-hook
    stage: user
    message: {type: track, properties: {price: 18.5}}
    expect:
      properties: {priceCents: 1850}
`

test('a file is read as the tests that it holds', () => {
  expect(readMessageTestFile(FILE)).toEqual({
    tests: [
      {
        name: 'cents are added',
        destination: 'booking-hook',
        stage: 'user',
        message: { type: 'track', properties: { price: 18.5 } },
        expect: { properties: { priceCents: 1850 } },
      },
    ],
  })
})

test.each<[string, string, object[]]>([
  ['is no YAML', 'tests: [', [{ line: 1, column: 9, message: expect.any(String) }]],
  ['is a list', '- a\n', [{ line: 1, column: 1, message: 'the file must hold an object: tests' }]],
  [
    'has no tests',
    'colour: red\n',
    [
      { line: 1, column: 1, message: 'unknown member: colour' },
      { line: 1, column: 1, message: 'tests must be a list' },
    ],
  ],
  ['has a wrong stage', FILE.replace('user', 'send'), [{ line: 5, column: 5, message: 'stage must be user or dest' }]],
  [
    'has an unknown member',
    FILE.replace('    stage', '    shade: 1\n    stage'),
    [{ line: 5, column: 5, message: 'unknown member: shade' }],
  ],
  [
    'lacks what is needed',
    'tests:\n  - {}\n  - 7\n',
    [
      { line: 2, column: 5, message: 'name is required' },
      { line: 2, column: 5, message: 'destination is required' },
      { line: 2, column: 5, message: 'stage must be user or dest' },
      { line: 2, column: 5, message: 'message must be an object' },
      { line: 2, column: 5, message: 'expect is required' },
      { line: 3, column: 5, message: 'a test must be an object' },
    ],
  ],
])('a file that %s is told with every fault and its place', (_, text, faults) => {
  expect(readMessageTestFile(text)).toEqual({ faults })
})

test('whatever is written is read again as it was', () => {
  const json = fc.jsonValue({ noUnicodeString: false })
  const name = fc.string({ minLength: 1, unit: 'grapheme' }).filter((text) => text.trim() !== '')
  const tests = fc.array(
    fc.record({
      name,
      destination: fc.stringMatching(/^[a-z0-9-]{1,12}$/),
      stage: fc.constantFrom('user', 'dest'),
      message: fc.dictionary(fc.string(), json, { noNullPrototype: true }),
      expect: json,
    }),
    { maxLength: 3 },
  )
  fc.assert(
    fc.property(tests, (written) => {
      const plain = JSON.parse(JSON.stringify(written))
      expect(readMessageTestFile(messageTestFileText(plain as MessageTest[]))).toEqual({ tests: plain })
    }),
  )
})
