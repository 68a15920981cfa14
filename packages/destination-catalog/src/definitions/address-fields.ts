/**
 * Mapping fields that are addresses: action → field. They decide where requests go, so they take literal text only.
 *
 * @see contracts/destination-catalog.md §7.2 [C37]
 */
export const ADDRESS_FIELDS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  webhook: { send: 'url' },
  'webhook-audiences': { send: 'url' },
  slack: { postToChannel: 'url' },
  zapier: { send: 'zapSubscriptionUrl' },
  qualtrics: { triggerXflowWorkflow: 'workflowUrl' },
}

/** Entries whose address is a credential. */
export const SECRET_ADDRESS_SLUGS: ReadonlySet<string> = new Set(['slack', 'zapier'])

/**
 * Settings that the code puts into the host of requests although their names do not tell it: an account in a subdomain, a port.
 *
 * @see contracts/destination-catalog.md §7.2 [C37]
 */
export const HOST_FIELDS: Readonly<Record<string, readonly string[]>> = {
  '1plusx': ['client_id'],
  'adobe-target': ['client_code'],
  'algolia-insights': ['appId'],
  kevel: ['networkId'],
  singlestore: ['port'],
}
