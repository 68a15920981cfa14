import type { SourceType } from '@millrace/api-types'
import { type ClientPage, readClientPage } from './client-page.ts'

const PAGES = import.meta.glob<string>(['../../../../../../docs/clients/*.md', '!**/README.md'], {
  query: '?raw',
  import: 'default',
  eager: true,
})

/** By source type; Setup shows the first. */
const PAGES_OF: Readonly<Record<SourceType, readonly string[]>> = {
  Cordova: ['cordova', 'http'],
  Javascript: ['web-analytics-next', 'web-snippet', 'web-analytics-js', 'web-jitsu', 'http'],
  Android: ['kotlin', 'http'],
  iOS: ['swift', 'http'],
  ReactNative: ['react-native', 'http'],
  Flutter: ['flutter', 'http'],
  Node: ['node', 'http'],
  Python: ['python', 'http'],
  Go: ['go', 'http'],
  Java: ['java', 'http'],
  Ruby: ['ruby', 'http'],
  PHP: ['php', 'http'],
  DotNet: ['dotnet', 'http'],
  Kotlin: ['kotlin', 'http'],
  Swift: ['swift', 'http'],
  Rust: ['rust', 'http'],
  Unity: ['dotnet', 'http'],
  AMP: ['pixel', 'http'],
  Shopify: ['webhook'],
  HTTP: ['http', 'rust', 'node', 'python', 'go', 'java'],
  Pixel: ['pixel', 'http'],
  Webhook: ['webhook'],
}

/** The client pages for a source type. */
export function clientPagesOf(type: SourceType): readonly ClientPage[] {
  return PAGES_OF[type].map((name) => readClientPage(PAGES[`../../../../../../docs/clients/${name}.md`]!))
}
