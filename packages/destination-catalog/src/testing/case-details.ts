import type { JsonObject } from '@millrace/protocol'

/** What an entry asks for beyond its required fields, before its code makes a request. */
export interface CaseDetails {
  readonly action?: string
  readonly event?: string
  readonly settings?: JsonObject
  /** Values other than the defaults, where one that is made from the name would not do. */
  readonly others?: JsonObject
  readonly mapping?: JsonObject
}

export const CASE_DETAILS: Readonly<Record<string, CaseDetails>> = {
  'algolia-insights': { action: 'conversionEvents', event: 'order', mapping: { index: 'films' } },
  'amplitude-cohorts': { event: 'audience' },
  'criteo-audiences': { settings: { advertiser_id: '4711' }, event: 'audience' },
  dub: { action: 'trackLead', event: 'order', mapping: { clickId: 'click-1' } },
  'eagleeye-audiences': { event: 'audience', mapping: { behavioralActionTriggerReferences: 'regulars-joined' } },
  epsilon: { event: 'order', mapping: { dtm_event: 'custom', dtm_fid: 'form-1' } },
  gwen: { action: 'sendEvent', event: 'order', mapping: { userId: '5b1c7d1e-2f63-4d21-8a4f-1f0b5f0c9a77' } },
  launchdarkly: { others: { events_host_name: 'vendor.example' } },
  memora: {
    event: 'identify',
    mapping: {
      memora_store: 'mem_store_01',
      profile_identifiers: { 'Contact.$.email': 'ada@cinema.example' },
      profile_traits: { 'Contact.$.firstName': 'Ada' },
    },
  },
  'optimizely-web': { event: 'order', mapping: { endUserId: 'u-42' } },
  'pendo-audiences': { event: 'audience', settings: { region: 'US' } },
  singlestore: { others: { port: '8443' } },
  'twilio-messaging': {
    event: 'order',
    mapping: {
      channel: 'SMS',
      senderType: 'Phone number',
      contentTemplateType: 'Inline',
      toPhoneNumber: '+442071838750',
      fromPhoneNumber: '+442071838751',
      inlineBody: 'Your seats are reserved.',
    },
  },
  userpilot: { others: { endpoint: 'https://vendor.example/' } },
  voyage: {
    action: 'trackOrderPlaced',
    event: 'order',
    mapping: {
      CustomerId: 'u-42',
      Url: 'https://cinema.example/orders/A-1001',
      OrderTotal: 39.9,
      TotalSpent: 39.9,
      Phone: '+442071838750',
      Zip: 'N1 9GU',
    },
  },
  zapier: { event: 'order', mapping: { zapSubscriptionUrl: 'https://hooks.zapier.com/hooks/catch/1/x' } },
}
