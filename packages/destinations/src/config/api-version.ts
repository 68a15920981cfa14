import type { JsonObject, Judgement } from '@millrace/protocol'
import { configText } from './config-text.ts'

/*
 * A service may end the version of its API that a type is written for. The variable `apiVersion` then names a later one, until
 * Millrace is updated; the events wait for that.
 */

/** The schema of the variable. @param example of a version, which is the default. */
export function apiVersionProperty(pattern: string, example: string): JsonObject {
  return { type: 'string', pattern, description: `a version such as ${example}`, default: example }
}

/** The form field. @param life how long the service keeps a version. */
export function apiVersionField(life: string): JsonObject {
  return { key: 'apiVersion', label: 'API version', help: `${life} Leave it as it is until the service ends this one.` }
}

export function apiVersion(config: JsonObject, byDefault: string): string {
  return configText(config, 'apiVersion') ?? byDefault
}

/** The judgement of an answer by which a service refuses the version. */
export function versionEnded(service: string): Judgement {
  const what = `${service} has ended this version of its API`
  return { unauthorised: `${what}: set apiVersion to a current one, or update Millrace` }
}
