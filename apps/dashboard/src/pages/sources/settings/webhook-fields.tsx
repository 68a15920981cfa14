import { Select, TextInput } from '@mantine/core'
import type { WebhookConfig } from '@millrace/api-types'
import { useCredentials } from '../../../api/credentials.ts'

interface WebhookFieldsProps {
  readonly config: WebhookConfig
  readonly onChange: (config: WebhookConfig) => void
  readonly disabled: boolean
}

/**
 * How the events of a webhook source are read, and the service that must sign them. @see contracts/control-plane.md §5
 */
export function WebhookFields({ config, onChange, disabled }: WebhookFieldsProps) {
  const credentials = useCredentials().data ?? []
  const keys = new Set(credentials.map(({ key }) => key))
  if (config.secretCredential !== '') keys.add(config.secretCredential)
  return (
    <>
      {PATHS.map(({ name, label, description, placeholder }) => (
        <TextInput
          key={name}
          label={label}
          description={description}
          placeholder={placeholder}
          value={config[name]}
          onChange={({ currentTarget }) => onChange({ ...config, [name]: currentTarget.value })}
          maxLength={200}
          disabled={disabled}
        />
      ))}
      <Select
        label="Signature"
        description="If set, requests without the service's signature are refused."
        data={SIGNATURES}
        value={config.signature}
        onChange={(value) => value !== null && onChange({ ...config, signature: value as WebhookConfig['signature'] })}
        allowDeselect={false}
        disabled={disabled}
      />
      {config.signature !== 'none' && (
        <Select
          label="Secret of the signature"
          description="The credential with the secret. Manage credentials in Settings."
          data={[...keys]}
          value={config.secretCredential === '' ? null : config.secretCredential}
          onChange={(value) => onChange({ ...config, secretCredential: value ?? '' })}
          required
          disabled={disabled}
        />
      )}
    </>
  )
}

const PATHS = [
  {
    name: 'eventPath',
    label: 'Path of the event name',
    description: 'Member names joined by dots. If no name is found, the event is named Webhook Received.',
    placeholder: 'type',
  },
  {
    name: 'userIdPath',
    label: 'Path of the userId',
    description: 'If no id is found, each event gets a new anonymousId.',
    placeholder: 'data.object.customer',
  },
  { name: 'anonymousIdPath', label: 'Path of the anonymousId', description: '', placeholder: 'client_reference_id' },
  {
    name: 'messageIdPath',
    label: 'Path of the messageId',
    description: 'Lets the setting Duplicates detect repeated webhooks.',
    placeholder: 'id',
  },
] as const

const SIGNATURES = [
  { value: 'none', label: 'None' },
  { value: 'github', label: 'GitHub' },
  { value: 'stripe', label: 'Stripe' },
  { value: 'shopify', label: 'Shopify' },
]
