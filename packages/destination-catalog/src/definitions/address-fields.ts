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
