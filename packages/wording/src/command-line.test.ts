import { expect, test } from 'vitest'
import { commandLine, shellQuoted } from './command-line.ts'

test('a command runs in the folder of Millrace as it is printed', () => {
  expect(commandLine('plan', '--file', 'my plan.yaml')).toBe("npm run millrace -- plan --file 'my plan.yaml'")
})

test.each([
  ['plain-text_1.txt', 'plain-text_1.txt'],
  ['', "''"],
  ["it's", `'it'\\''s'`],
  ['$(rm -rf ~)`x`', "'$(rm -rf ~)`x`'"],
])('%s is the word %s', (text, word) => expect(shellQuoted(text)).toBe(word))
