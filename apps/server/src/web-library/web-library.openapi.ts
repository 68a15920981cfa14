import { named, type RouteDescription, Type } from '@millrace/openapi'
import { librarySettings } from './settings.ts'

const TAG = 'Ingest'
const anything = Type.Record(Type.String(), Type.Unknown())
const LibrarySettings = named(
  'LibrarySettings',
  Type.Object(
    {
      integrations: Type.Object({
        'Segment.io': Type.Object({
          apiKey: Type.String({ description: 'The write key.' }),
          apiHost: Type.String({ description: 'Host, port and path of this server: `events.cinema.example/v1`.' }),
          protocol: Type.Union([Type.Literal('http'), Type.Literal('https')]),
        }),
      }),
      plan: anything,
    },
    { description: 'Other members are read by some versions of a library.' },
  ),
)
const refused = (text: string) => ({
  text: `\`${text}\``,
  schema: Type.String(),
  mediaType: 'text/plain',
  examples: { [text]: text },
})
const unknownKey = refused('Invalid Write Key')
const javascript = { text: 'The script.', schema: Type.String(), mediaType: 'text/javascript' }
const writeKey = Type.String({ description: 'Write key of the source.' })

/** @see contracts/ingest.md §8 */
export const WEB_LIBRARY_IN_WORDS: Record<'settings' | 'script' | 'part', RouteDescription> = {
  settings: {
    tag: TAG,
    summary: 'Settings for the libraries of Segment for the web, Kotlin and Swift',
    details: 'Set their `cdnURL` or `cdnHost` to this server. The settings make them send events to this server.',
    access: 'none',
    pathParameters: { writeKey },
    answers: {
      200: {
        text: 'The settings.',
        schema: LibrarySettings,
        headers: { 'Cache-Control': Type.String() },
        examples: { settings: librarySettings('3PS3MKgFh6ZTxDaxUjKBsLaUg1r', 'https://events.cinema.example') },
      },
    },
  },
  script: {
    tag: TAG,
    summary: 'The web library that the classic snippet loads',
    details: 'The published @segment/analytics-next, which sends to the address that it was loaded from.',
    access: 'none',
    pathParameters: { writeKey },
    answers: { 200: javascript, 304: { text: 'Not changed since the ETag in `If-None-Match`.' }, 404: unknownKey },
  },
  part: {
    tag: TAG,
    summary: 'A part of the web library that is loaded later',
    access: 'none',
    answers: {
      200: javascript,
      304: { text: 'Not changed since the ETag in `If-None-Match`.' },
      404: refused('No such part of the library'),
    },
  },
}
