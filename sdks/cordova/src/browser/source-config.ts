import type { ConfigAnswer, EngineSettings } from '../core/bridge.ts'
import type { Http } from './http.ts'
import { authorization } from './sender.ts'

const MAX_BYTES = 1024 * 1024

/** One request for the source configuration; the core decides when, and what the answer means. @see contracts/cordova-sdk.md §17 */
export async function fetchSourceConfig(
  http: Http,
  { controlPlaneUrl, writeKey, sdkVersion }: EngineSettings,
  platformVersion: string | undefined,
  etag: string | undefined,
): Promise<ConfigAnswer> {
  if (!controlPlaneUrl) return { status: 0 }
  const version = platformVersion === undefined ? '' : `&bv=${encodeURIComponent(platformVersion)}`
  const url = `${controlPlaneUrl}/sourceConfig?p=browser&v=${sdkVersion}${version}`
  const headers: Record<string, string> = { Authorization: authorization(writeKey) }
  if (etag !== undefined) headers['If-None-Match'] = etag
  const answer = await http.send(url, headers, MAX_BYTES)
  if (!answer || answer.answerText === undefined) return { status: 0 }
  const { httpStatus: status, answerText, header } = answer
  return { status, etag: header('ETag') || undefined, body: status === 200 ? answerText : undefined }
}
