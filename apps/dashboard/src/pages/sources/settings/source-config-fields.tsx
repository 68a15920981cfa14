import { Select, Switch } from '@mantine/core'
import type { SourceConfig } from '@millrace/api-types'
import { NumberField } from '../../../components/form/number-field.tsx'
import { consentTexts } from '../../../texts.ts'
import { WebhookFields } from './webhook-fields.tsx'

interface SourceConfigFieldsProps {
  readonly config: SourceConfig
  readonly errorOf: (field: string) => string | undefined
  readonly disabled: boolean
  readonly onChange: (config: SourceConfig) => void
}

/** The `config` of a source: the limits at its gateway, the samples of its schema, consent, and the webhook. */
export function SourceConfigFields({ config, errorOf, disabled, onChange }: SourceConfigFieldsProps) {
  const change = (changes: Partial<SourceConfig>) => onChange({ ...config, ...changes })
  return (
    <>
      <NumberField
        label="Rate limit"
        description="Events per minute; 0: no limit."
        value={config.rateLimitEventsPerMinute}
        onChange={(rateLimitEventsPerMinute) => change({ rateLimitEventsPerMinute })}
        error={errorOf('rateLimitEventsPerMinute')}
        min={0}
        allowDecimal={false}
        thousandSeparator=","
        disabled={disabled}
      />
      <NumberField
        label="Duplicates"
        description="Seconds during which a repeated messageId is dropped; 0: off."
        value={config.dedupWindowSeconds}
        onChange={(dedupWindowSeconds) => change({ dedupWindowSeconds })}
        error={errorOf('dedupWindowSeconds')}
        min={0}
        max={86_400}
        allowDecimal={false}
        thousandSeparator=","
        disabled={disabled}
      />
      <NumberField
        label="Order shards"
        description={ORDER_SHARDS}
        value={config.orderShards}
        onChange={(orderShards) => change({ orderShards })}
        error={errorOf('orderShards')}
        min={1}
        max={64}
        allowDecimal={false}
        disabled={disabled}
      />
      <CatalogFields catalog={config.catalog} onChange={(catalog) => change({ catalog })} disabled={disabled} />
      <Select
        label="Events without consent"
        description={consentTexts.withoutConsent}
        data={[
          { value: 'send', label: 'Send' },
          { value: 'hold_back', label: 'Do not send' },
        ]}
        value={config.withoutConsent ?? 'send'}
        onChange={(value) => value !== null && change({ withoutConsent: value as 'send' | 'hold_back' })}
        allowDeselect={false}
        disabled={disabled}
      />
      {config.webhook !== undefined && (
        <WebhookFields config={config.webhook} onChange={(webhook) => change({ webhook })} disabled={disabled} />
      )}
    </>
  )
}

const ORDER_SHARDS =
  'Partitions of the log for its users. 1 keeps order per userId and per anonymousId. Above 1, order holds per anonymousId, else userId. A change may reorder events once.'

type Catalog = SourceConfig['catalog']

interface CatalogFieldsProps {
  readonly catalog: Catalog
  readonly onChange: (catalog: Catalog) => void
  readonly disabled: boolean
}

function CatalogFields({ catalog, onChange, disabled }: CatalogFieldsProps) {
  return (
    <>
      <Select
        label="Samples in the schema"
        data={[
          { value: 'full', label: 'Full' },
          { value: 'masked', label: 'Values masked' },
          { value: 'off', label: 'None' },
        ]}
        value={catalog.samples}
        onChange={(value) => value !== null && onChange({ ...catalog, samples: value as Catalog['samples'] })}
        allowDeselect={false}
        disabled={disabled}
      />
      <Switch
        label="Frequent values in the schema"
        checked={catalog.values === 'on'}
        onChange={({ currentTarget }) => onChange({ ...catalog, values: currentTarget.checked ? 'on' : 'off' })}
        disabled={disabled}
      />
    </>
  )
}
