import { cloudDefinition } from '../../cloud-definition.ts'

export const definition = cloudDefinition({
  id: '3MXFeAn2Z7laXyafPtXXzvWYLlj',
  name: 'ZENDESK',
  displayName: 'Zendesk',
  category: 'support',
  variables: ['subdomain', 'email', 'apiToken', 'userFields', 'organizationFields', 'eventSource'],
  secretKeys: ['apiToken'],
  hostKeys: ['subdomain'],
  messageTypes: ['identify', 'track', 'group'],
  configSchema: {
    type: 'object',
    required: ['subdomain', 'email', 'apiToken'],
    properties: {
      subdomain: {
        type: 'string',
        pattern: '^[A-Za-z0-9][A-Za-z0-9-]{0,62}$',
        description: 'the name before .zendesk.com',
      },
      email: { type: 'string', minLength: 1 },
      apiToken: { type: 'string', minLength: 1 },
      userFields: { type: 'array', items: { type: 'string', minLength: 1 } },
      organizationFields: { type: 'array', items: { type: 'string', minLength: 1 } },
      eventSource: {
        type: 'string',
        pattern: '^(?![Zz][Ee][Nn][Dd][Ee][Ss][Kk]$)',
        description: 'another name than zendesk, which Zendesk keeps for itself',
      },
    },
  },
  uiConfig: {
    fields: [
      { key: 'subdomain', label: 'Subdomain', help: 'The part before .zendesk.com.' },
      { key: 'email', label: 'E-mail address', help: 'Of the admin or agent to whom the requests belong.' },
      { key: 'apiToken', label: 'API token', help: 'In the Admin Center, under Apps and integrations, APIs.' },
      {
        key: 'userFields',
        label: 'Traits for user fields',
        help: 'Each goes to the user field with the same key, which must exist in Zendesk.',
      },
      {
        key: 'organizationFields',
        label: 'Traits for organization fields',
        help: 'Each goes to the organization field with the same key, which must exist in Zendesk.',
      },
      {
        key: 'eventSource',
        label: 'Source of events',
        help: 'With a name such as cinema, track events are sent to the timeline of the user. Needs a Suite plan.',
      },
    ],
  },
  createdAt: '2026-11-24T08:00:00.000Z',
  updatedAt: '2026-11-24T08:00:00.000Z',
})
