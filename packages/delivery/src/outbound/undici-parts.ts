import { createRequire } from 'node:module'
import type { ProxyAgent } from 'undici'

const require = createRequire(import.meta.url)

/** Connections to one origin. It is loaded alone: with the rest of undici, such as its fetch and its mocks, a start takes 20 ms more. */
export const Pool = require('undici/lib/dispatcher/pool.js') as typeof import('undici').Pool
export type Pool = InstanceType<typeof Pool>

/** An agent works only after the rest of undici is loaded, which gives pools the methods that it calls. */
export function newProxyAgent(options: ProxyAgent.Options): ProxyAgent {
  const undici = require('undici') as typeof import('undici')
  return new undici.ProxyAgent(options)
}
