import { closed, Id, named, oneOf, type RouteDescription, refusals, Time, Type } from '@millrace/openapi'

const series = named(
  'Series',
  Type.Array(Type.Union([Type.Number({ minimum: 0 }), Type.Null()]), {
    maxItems: 360,
    description: 'A value for each step; null: not known, as while the server did not run.',
  }),
)
const SOURCE_ID = '3iidO0kXIpgrmam9JhPLS2gpoVe'
const TRANSFORMATION_ID = '3dRIkg3yt5dHQvrpFIWbdCOITv7'
const DESTINATION_ID = '3uLMicKvWtFGwbwBkUIwtP0l8lu'

export const STATS_IN_WORDS: RouteDescription = {
  tag: 'Events',
  summary: 'Show statistics of sources, transformations and destinations',
  details:
    'Steps of 10 s are kept for an hour, steps of 300 s for 7 days; at most 360 a call. A series has one value for each step; null: not known, as while the server did not run. A step that still goes on has what is known of it: its counts grow. `waiting` is a state at the end of the step, and the percentiles are of all calls in it (at most 10 % away from the exact duration), for a transformation of runs of all the code of a destination.',
  access: 'token',
  query: {
    from: Type.String({ description: 'Default: 360 steps before `to`.' }),
    to: Type.String({ description: 'Default: now.' }),
    step: oneOf(['10', '300'], { default: '10', description: 'Seconds.' }),
    sourceId: Type.String({ description: 'With an id, only this resource is shown.' }),
    destinationId: Type.String(),
    transformationId: Type.String(),
    by: oneOf(['reason'], { description: 'Adds `reasons`.' }),
  },
  answers: {
    200: {
      text: 'The series.',
      schema: named(
        'Stats',
        closed({
          from: Time,
          to: Time,
          stepSeconds: Type.Integer(),
          sources: Type.Array(
            closed({ id: Id, accepted: series, refused: series, lastEventAt: Type.Union([Time, Type.Null()]) }),
          ),
          transformations: Type.Array(closed({ id: Id, in: series, out: series, errors: series, p95Ms: series })),
          destinations: Type.Array(
            closed({
              id: Id,
              delivered: series,
              filtered: series,
              dropped: series,
              deadLettered: series,
              retries: series,
              waiting: series,
              p50Ms: series,
              p95Ms: series,
              p99Ms: series,
            }),
          ),
          reasons: Type.Optional(
            Type.Array(
              closed({ destinationId: Id, outcome: Type.String(), reason: Type.String(), count: Type.Integer() }),
            ),
          ),
        }),
      ),
      examples: {
        series: {
          from: '2026-03-04T09:15:00.000Z',
          to: '2026-03-04T09:15:20.000Z',
          stepSeconds: 10,
          sources: [
            { id: SOURCE_ID, accepted: [null, 41], refused: [null, 0], lastEventAt: '2026-03-04T09:15:18.112Z' },
          ],
          transformations: [
            { id: TRANSFORMATION_ID, in: [null, 41], out: [null, 40], errors: [null, 1], p95Ms: [null, 3] },
          ],
          destinations: [
            {
              id: DESTINATION_ID,
              delivered: [null, 38],
              filtered: [null, 2],
              dropped: [null, 0],
              deadLettered: [null, 1],
              retries: [null, 3],
              waiting: [null, 12],
              p50Ms: [null, 61],
              p95Ms: [null, 180],
              p99Ms: [null, 420],
            },
          ],
          reasons: [{ destinationId: DESTINATION_ID, outcome: 'filtered', reason: 'integrations', count: 2 }],
        },
      },
    },
    ...refusals({
      400: ['Invalid time in from', 'Invalid step', 'Invalid by', 'from must be before to', 'At most 360 steps'],
    }),
  },
}
