import type { JsonObject } from '@millrace/protocol'
import { cloudDefinition } from '../../cloud-definition.ts'
import { apiVersionField, apiVersionProperty } from '../../config/api-version.ts'
import { REFRESH_TOKEN } from '../../config/authorization.ts'
import { whereIs } from '../../config/schema-conditions.ts'

/** Summer '26. */
export const API_VERSION = 'v67.0'

const TEXT: JsonObject = { type: 'string', minLength: 1 }
const FIELD: JsonObject = {
  type: 'string',
  pattern: '^[A-Za-z][A-Za-z0-9_]*$',
  description: 'the API name of a field, such as Millrace_Id__c',
}

export const definition = cloudDefinition({
  id: '3MTXc9Ejheogm6eCzOfXCCpVSX0',
  name: 'SALESFORCE',
  displayName: 'Salesforce',
  category: 'crm',
  variables: [
    'instanceUrl',
    'oauthGrant',
    'oauthClientId',
    'oauthClientSecret',
    'oauthRefreshToken',
    'object',
    'externalIdField',
    'externalId',
    'fields',
    'defaultCompany',
    'apiVersion',
  ],
  secretKeys: ['oauthClientSecret', 'oauthRefreshToken'],
  hostKeys: ['instanceUrl'],
  messageTypes: ['identify'],
  configSchema: {
    type: 'object',
    required: ['instanceUrl', 'oauthClientId', 'oauthClientSecret', 'externalIdField'],
    properties: {
      instanceUrl: {
        type: 'string',
        pattern: '^[Hh][Tt][Tt][Pp][Ss]?://[^/?#\\\\\\s@]+/?$',
        description: 'the address of your My Domain without a path, such as https://cinema.my.salesforce.com',
      },
      oauthGrant: { type: 'string', enum: ['client_credentials', 'refresh_token'], default: 'client_credentials' },
      oauthClientId: TEXT,
      oauthClientSecret: TEXT,
      oauthRefreshToken: TEXT,
      object: { type: 'string', enum: ['Lead', 'Contact'], default: 'Lead' },
      externalIdField: FIELD,
      externalId: { type: 'string', enum: ['userId', 'email'], default: 'userId' },
      fields: {
        type: 'array',
        maxItems: 200,
        items: {
          type: 'object',
          required: ['from', 'to'],
          properties: { from: TEXT, to: FIELD },
        },
      },
      defaultCompany: TEXT,
      apiVersion: apiVersionProperty('^v\\d+\\.\\d+$', API_VERSION),
    },
    allOf: [whereIs('oauthGrant', 'refresh_token', { required: ['oauthRefreshToken'] })],
  },
  uiConfig: {
    authorization: { variable: REFRESH_TOKEN, where: { oauthGrant: 'refresh_token' } },
    fields: [
      { key: 'instanceUrl', label: 'My Domain URL', help: 'For example https://cinema.my.salesforce.com' },
      {
        key: 'oauthGrant',
        label: 'OAuth 2 flow',
        help: 'client_credentials: as the user that your app runs as. refresh_token: as the user who gave the token.',
      },
      { key: 'oauthClientId', label: 'Consumer key' },
      { key: 'oauthClientSecret', label: 'Consumer secret' },
      {
        key: 'oauthRefreshToken',
        label: 'Refresh token',
        help: 'For the flow refresh_token. Its rotation must be off.',
      },
      { key: 'object', label: 'Object' },
      {
        key: 'externalIdField',
        label: 'External ID field',
        help: 'API name of a field that is marked as External ID. Records are found by it.',
      },
      { key: 'externalId', label: 'Value of the external ID' },
      {
        key: 'fields',
        label: 'More fields',
        help: 'From a trait, such as address.floor, to a field, such as Floor__c.',
      },
      {
        key: 'defaultCompany',
        label: 'Company of leads without one',
        help: 'Salesforce creates no lead without a company.',
      },
      apiVersionField('Salesforce keeps a version for three years or longer.'),
    ],
  },
  createdAt: '2026-11-24T04:00:00.000Z',
  updatedAt: '2026-11-24T04:00:00.000Z',
})
