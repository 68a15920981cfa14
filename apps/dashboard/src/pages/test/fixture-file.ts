import type { JsonObject } from '@millrace/protocol/json'
import { type MessageTest, messageTestFileText, readMessageTestFile } from '@millrace/protocol/message-test-file'

// A separate file, because it imports a YAML library: loaded when the user opens or saves a fixture.

/** The message of the first test in a file. */
export function messageOfFixture(text: string): { name: string; message: JsonObject } | { fault: string } {
  const read = readMessageTestFile(text)
  if ('faults' in read) {
    const [{ line, message } = { line: 1, message: 'no tests' }] = read.faults
    return { fault: `line ${line}: ${message}` }
  }
  const [test] = read.tests
  return test === undefined ? { fault: 'it contains no tests' } : { name: test.name, message: test.message }
}

export function fixtureFile(tests: readonly MessageTest[]): Blob {
  return new Blob([messageTestFileText(tests)], { type: 'application/yaml' })
}
