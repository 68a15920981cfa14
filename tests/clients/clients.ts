import { expect } from 'vitest'
import { DRIVERS, driver, go, java, kotlin, node, type Program, python, rust, type Toolchain } from './toolchains.ts'

/** A published client library, and what of it the suite expects. */
export interface Client {
  readonly name: string
  readonly version: string
  /** Below docs/clients. */
  readonly page: string
  readonly toolchain: Toolchain
  /** Below drivers. */
  readonly driver: string
  /** Of the six kinds of event, those that the library has no call for. */
  readonly lacks?: readonly Kind[]
  /** It compresses what it sends. */
  readonly gzip?: boolean
  /** It may send events of a user in another order than they were made. */
  readonly overtakes?: boolean
  /** It speaks https only. */
  readonly needsTls?: boolean
  /** What its calls say in other words than those of the others. */
  readonly sentAs?: Readonly<Partial<Record<Kind | 'anonymous', object>>>
  /** Statuses after which it does not send again; the page says so. */
  readonly givesUpOn?: readonly (429 | 503)[]
  /** Ends the program of its page, which would go on as an app does. */
  readonly pageEnd?: string
  /** `.ci/run` runs it. */
  readonly isRepresentative?: boolean
}

export const KINDS = ['identify', 'track', 'page', 'screen', 'group', 'alias'] as const
export type Kind = (typeof KINDS)[number]

const NODE = node({
  'analytics-node-2': 'npm:@segment/analytics-node@2.3.0',
  'analytics-node-3': 'npm:@segment/analytics-node@3.1.0',
  'analytics-node-6': 'npm:analytics-node@6.2.0',
  '@segment/analytics-node': '3.1.0',
  '@rudderstack/rudder-sdk-node': '3.0.13',
})
const REACT_NATIVE = node({
  '@segment/analytics-react-native': '2.24.1',
  '@segment/sovran-react-native': '1.1.3',
  react: '19.2.0',
  'react-native': `file:${DRIVERS}/react-native`,
})
const PYTHON = python({ 'segment-analytics-python': '2.4.0', 'rudder-sdk-python': '2.1.9' })
// It and the newer one have dependencies that exclude each other.
const OLD_PYTHON = python({ 'analytics-python': '1.2.9', six: '1.17.0' })
const GO = go({ 'github.com/segmentio/analytics-go/v3': '3.3.0', 'github.com/rudderlabs/analytics-go/v4': '4.2.1' })
const SEGMENT_JAVA = java({ 'com.segment.analytics.java:analytics': '3.5.4' })
const RUDDER_JAVA = java({ 'com.rudderstack.sdk.java.analytics:analytics': '3.1.2' })
const KOTLIN = kotlin({ 'com.segment.analytics.kotlin:core': '1.27.0' })
const RUST = rust([
  'segment = "=0.2.6"',
  'rudderanalytics = "=2.0.1"',
  'tokio = { version = "1", features = ["full"] }',
  'serde_json = "1"',
])

export const CLIENTS: readonly Client[] = [
  { name: '@segment/analytics-node', version: '2.3.0', page: 'node.md', toolchain: NODE, driver: 'segment-node-2.mjs' },
  {
    name: '@segment/analytics-node',
    version: '3.1.0',
    page: 'node.md',
    toolchain: NODE,
    driver: 'segment-node-3.mjs',
    isRepresentative: true,
  },
  {
    name: 'analytics-node',
    version: '6.2.0',
    page: 'node.md',
    toolchain: NODE,
    driver: 'analytics-node-6.mjs',
  },
  {
    name: '@rudderstack/rudder-sdk-node',
    version: '3.0.13',
    page: 'node.md',
    toolchain: NODE,
    driver: 'rudder-node.mjs',
    gzip: true,
  },
  {
    name: 'segment-analytics-python',
    version: '2.4.0',
    page: 'python.md',
    toolchain: PYTHON,
    driver: 'segment.py',
    gzip: true,
  },
  {
    name: 'analytics-python',
    version: '1.2.9',
    page: 'python.md',
    toolchain: OLD_PYTHON,
    driver: 'analytics-python.py',
  },
  {
    name: 'rudder-sdk-python',
    version: '2.1.9',
    page: 'python.md',
    toolchain: PYTHON,
    driver: 'rudder.py',
    gzip: true,
  },
  {
    name: 'github.com/segmentio/analytics-go',
    version: '3.3.0',
    page: 'go.md',
    toolchain: GO,
    driver: 'segment.go',
  },
  { name: 'github.com/rudderlabs/analytics-go', version: '4.2.1', page: 'go.md', toolchain: GO, driver: 'rudder.go' },
  {
    name: 'com.segment.analytics.java:analytics',
    version: '3.5.4',
    page: 'java.md',
    toolchain: SEGMENT_JAVA,
    driver: 'segment.java',
    overtakes: true,
  },
  {
    name: 'com.rudderstack.sdk.java.analytics:analytics',
    version: '3.1.2',
    page: 'java.md',
    toolchain: RUDDER_JAVA,
    driver: 'rudder.java',
    overtakes: true,
  },
  {
    name: 'com.segment.analytics.kotlin:core',
    version: '1.27.0',
    page: 'kotlin.md',
    toolchain: KOTLIN,
    driver: 'segment.kt',
    lacks: ['page'],
    gzip: true,
    needsTls: true,
    overtakes: true,
    sentAs: { alias: { userId: 'u-99', previousId: 'u-88' }, anonymous: { anonymousId: expect.any(String) } },
  },
  {
    name: '@segment/analytics-react-native',
    version: '2.24.1',
    page: 'react-native.md',
    toolchain: REACT_NATIVE,
    driver: 'react-native.mjs',
    lacks: ['page'],
    sentAs: { alias: { userId: 'u-99', previousId: 'u-88' }, anonymous: { anonymousId: expect.any(String) } },
    pageEnd: 'setTimeout(() => process.exit(), 40_000)',
  },
  {
    name: 'segment (crate)',
    version: '0.2.6',
    page: 'rust.md',
    toolchain: RUST,
    driver: 'segment.rs',
    givesUpOn: [503, 429],
  },
  {
    name: 'rudderanalytics (crate)',
    version: '2.0.1',
    page: 'rust.md',
    toolchain: RUST,
    driver: 'rudder.rs',
  },
]

/** The program that drives a client through a scenario. */
export async function programOf({ toolchain, driver: file }: Client): Promise<Program> {
  return toolchain.build(`driver-${file.replaceAll(/\W/g, '-')}`, await driver(file))
}
