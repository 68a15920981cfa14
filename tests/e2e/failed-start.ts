import assert from 'node:assert/strict'
import { type Environment, ServerProcess } from './server-process.ts'

/**
 * Starts a server that cannot: it says why in words that a person can act upon, not where in the code it arose, and ends
 * with 1.
 *
 * @returns what it said.
 */
export async function failedStart(environment: Environment): Promise<string> {
  await using server = new ServerProcess(environment)
  assert.equal(await server.exited, 1)
  assert.equal(server.stdout, '')
  assert.doesNotMatch(server.stderr, /^\s+at .*\.ts:|Node\.js v/m)
  return server.stderr
}
