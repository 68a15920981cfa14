import type { JsonObject } from '@millrace/protocol'
import { cloudDefinition } from '../../cloud-definition.ts'
import { REFRESH_TOKEN } from '../../config/authorization.ts'

const ACCOUNT: JsonObject = {
  type: 'string',
  pattern: '^[0-9][0-9-]*$',
  description: 'the number of an account, such as 123-456-7890',
}
const CONSENT: JsonObject = { type: 'string', enum: ['GRANTED', 'DENIED'] }
const TEXT: JsonObject = { type: 'string', minLength: 1 }

export const definition = cloudDefinition({
  id: '3MTzZpC9dXRX71wIRDBafQVTslh',
  name: 'GOOGLE_ADS',
  displayName: 'Google Ads',
  category: 'advertising',
  variables: [
    'customerId',
    'loginCustomerId',
    'conversions',
    'oauthClientId',
    'oauthClientSecret',
    'oauthRefreshToken',
    'adUserData',
    'adPersonalization',
  ],
  secretKeys: ['oauthClientSecret', 'oauthRefreshToken'],
  messageTypes: ['track'],
  configSchema: {
    type: 'object',
    required: ['customerId', 'conversions', 'oauthClientId', 'oauthClientSecret', 'oauthRefreshToken'],
    properties: {
      customerId: ACCOUNT,
      loginCustomerId: ACCOUNT,
      conversions: {
        type: 'array',
        minItems: 1,
        maxItems: 200,
        items: {
          type: 'object',
          required: ['eventName', 'conversionActionId'],
          properties: {
            eventName: TEXT,
            conversionActionId: {
              type: 'string',
              pattern: '^[0-9]+$',
              description: 'the digits of a conversion action',
            },
          },
        },
      },
      oauthClientId: TEXT,
      oauthClientSecret: TEXT,
      oauthRefreshToken: TEXT,
      adUserData: CONSENT,
      adPersonalization: CONSENT,
    },
  },
  uiConfig: {
    authorization: { variable: REFRESH_TOKEN },
    fields: [
      { key: 'customerId', label: 'Customer ID', help: 'The Google Ads account that gets the conversions.' },
      {
        key: 'loginCustomerId',
        label: 'Login customer ID',
        help: 'The manager account, if the user of the token has access through one.',
      },
      {
        key: 'conversions',
        label: 'Conversions',
        help: 'A list of eventName and conversionActionId. Other events are not sent.',
      },
      { key: 'oauthClientId', label: 'Client ID', help: 'Of your own OAuth client in Google Cloud.' },
      { key: 'oauthClientSecret', label: 'Client secret' },
      {
        key: 'oauthRefreshToken',
        label: 'Refresh token',
        help: 'With the scope https://www.googleapis.com/auth/datamanager.',
      },
      { key: 'adUserData', label: 'Consent: ad user data', help: 'For events whose context has no consent.' },
      { key: 'adPersonalization', label: 'Consent: personalization', help: 'For events whose context has no consent.' },
    ],
  },
  createdAt: '2026-11-24T04:00:00.000Z',
  updatedAt: '2026-11-24T04:00:00.000Z',
})
