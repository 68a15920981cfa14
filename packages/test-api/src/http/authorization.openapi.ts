import { closed, named, type RouteDescription, refusals, Type } from '@millrace/openapi'

const textOrNull = Type.Union([Type.String(), Type.Null()])
const unknownType = 'Unknown destination type NONE; known are AMPLITUDE, WEBHOOK'

export const AUTHORIZATION_IN_WORDS: RouteDescription = {
  tag: 'Destinations',
  summary: 'Begin an authorization at the page of a service',
  details:
    'For types with `uiConfig.authorization`. Send the person to `url`; the service sends them back to `redirectUri` with `code` and `state`, which `finish` takes within 10 minutes, once, from the same user. Register `redirectUri` with your app at the service. `config` and `destinationId` are as for a connection test, but only the client id, the client secret and the address of the service are needed. The address has a challenge of PKCE (S256).',
  access: 'token',
  body: {
    schema: named(
      'AuthorizationWanted',
      closed({
        type: Type.String(),
        config: Type.Record(Type.String(), Type.Unknown()),
        destinationId: Type.Optional(Type.String()),
        redirectUri: Type.String(),
      }),
    ),
    example: {
      type: 'GOOGLE_ADS',
      config: { oauthClientId: '4711.apps.googleusercontent.com', oauthClientSecret: 'GOCSPX-example' },
      redirectUri: 'https://millrace.cinema.example/ui/oauth',
    },
  },
  answers: {
    200: {
      text: 'Where to send the person.',
      schema: named(
        'AuthorizationBegun',
        closed({ url: Type.String(), state: Type.String(), expiresAt: Type.String({ format: 'date-time' }) }),
      ),
      examples: {
        begun: {
          url: 'https://accounts.google.com/o/oauth2/v2/auth?response_type=code&state=hT3example',
          state: 'hT3example',
          expiresAt: '2026-03-04T09:25:31.900Z',
        },
      },
    },
    ...refusals({
      400: [
        'type is required',
        unknownType,
        'config must be an object',
        'redirectUri must be an address of this dashboard that ends in /ui/oauth',
        'WEBHOOK has no authorization by a page of its service',
        'Unknown member: colour',
      ],
      404: ['Destination with id 3uLMicKvWtFGwbwBkUIwtP0l8lu not found'],
      422: ['Invalid config'],
    }),
  },
}

export const FINISH_IN_WORDS: RouteDescription = {
  tag: 'Destinations',
  summary: 'Exchange the code of an authorization for a refresh token',
  details: 'Nothing is saved: put the token into the variable that `uiConfig.authorization` names.',
  access: 'token',
  body: {
    schema: named('AuthorizationCode', closed({ state: Type.String(), code: Type.String() })),
    example: { state: 'hT3example', code: '4/0AeanExample' },
  },
  answers: {
    200: {
      text: 'The token, or why there is none.',
      schema: named('AuthorizationFinished', closed({ refreshToken: textOrNull, error: textOrNull })),
      examples: {
        issued: { refreshToken: '1//0exampleRefreshToken', error: null },
        refused: {
          refreshToken: null,
          error: '[EAUTH] :: authorization failed: the token endpoint answered 400 invalid_grant',
        },
      },
    },
    ...refusals({
      400: [
        'state is required',
        'code is required',
        'The authorization is unknown or older than 10 minutes: start it again',
        'Unknown member: colour',
      ],
    }),
  },
}
