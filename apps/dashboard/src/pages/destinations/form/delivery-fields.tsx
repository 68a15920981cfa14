import { Select, Switch } from '@mantine/core'
import type { DeliverySettings } from '@millrace/api-types'
import { FieldName } from '../../../components/form/config-form.tsx'
import { NumberField } from '../../../components/form/number-field.tsx'
import styles from '../destinations.module.css'

/** Those that show their own refusal. */
export const DELIVERY_FIELDS = ['concurrency', 'ordering', 'throttle', 'onTransformationError', 'keepAnswers']

interface DeliveryFieldsProps {
  readonly delivery: DeliverySettings
  readonly errorOf: (field: string) => string | undefined
  readonly disabled: boolean
  readonly onChange: (delivery: DeliverySettings) => void
}

/** How events are sent, whatever the type. */
export function DeliveryFields({ delivery, errorOf, disabled, onChange }: DeliveryFieldsProps) {
  const change = (changes: Partial<DeliverySettings>) => onChange({ ...delivery, ...changes })
  return (
    <fieldset className={styles.group}>
      <legend>Delivery</legend>
      <NumberField
        label="Maximum in flight"
        description={<FieldName name="concurrency" help="Maximum number of events in flight." />}
        value={delivery.concurrency}
        onChange={(concurrency) => change({ concurrency })}
        error={errorOf('concurrency')}
        min={1}
        max={1000}
        allowDecimal={false}
        thousandSeparator=","
        disabled={disabled}
      />
      <Select
        label="Order"
        description={<FieldName name="ordering" help="Strict: a user's events are sent one after the other." />}
        data={[
          { value: 'strict', label: 'Strict, by user' },
          { value: 'none', label: 'None' },
        ]}
        value={delivery.ordering}
        onChange={(value) => value !== null && change({ ordering: value as DeliverySettings['ordering'] })}
        error={errorOf('ordering')}
        allowDeselect={false}
        disabled={disabled}
      />
      <RateLimitFields
        throttle={delivery.throttle}
        error={errorOf('throttle')}
        disabled={disabled}
        onChange={(throttle) => change({ throttle })}
      />
      <Select
        label="When a transformation fails"
        description={<FieldName name="onTransformationError" />}
        data={[
          { value: 'dead_letter', label: 'Keep the event as a dead letter' },
          { value: 'pass_through', label: 'Send the event unchanged' },
        ]}
        value={delivery.onTransformationError}
        onChange={(value) =>
          value !== null && change({ onTransformationError: value as DeliverySettings['onTransformationError'] })
        }
        error={errorOf('onTransformationError')}
        allowDeselect={false}
        disabled={disabled}
      />
      <Select
        label="Stored answers"
        description={<FieldName name="keepAnswers" />}
        data={[
          { value: 'failed', label: 'Failed attempts only' },
          { value: 'all', label: 'All' },
        ]}
        value={delivery.keepAnswers ?? 'failed'}
        onChange={(value) => value !== null && change({ keepAnswers: value as 'failed' | 'all' })}
        error={errorOf('keepAnswers')}
        allowDeselect={false}
        disabled={disabled}
      />
    </fieldset>
  )
}

type Throttle = DeliverySettings['throttle']

interface RateLimitFieldsProps {
  readonly throttle: Throttle
  readonly error: string | undefined
  readonly disabled: boolean
  readonly onChange: (throttle: Throttle) => void
}

const FIRST_THROTTLE = { limit: 100, windowSeconds: 1 }

function RateLimitFields({ throttle, error, disabled, onChange }: RateLimitFieldsProps) {
  return (
    <>
      <Switch
        label="Rate limit"
        description={<FieldName name="throttle" help="Events above the limit wait; this is not an attempt." />}
        checked={throttle !== null}
        onChange={({ currentTarget }) => onChange(currentTarget.checked ? FIRST_THROTTLE : null)}
        error={error}
        disabled={disabled}
      />
      {throttle !== null && (
        <div className={styles.pair}>
          <NumberField
            label="Events"
            value={throttle.limit}
            onChange={(limit) => onChange({ ...throttle, limit })}
            min={1}
            allowDecimal={false}
            thousandSeparator=","
            disabled={disabled}
          />
          <NumberField
            label="In seconds"
            value={throttle.windowSeconds}
            onChange={(windowSeconds) => onChange({ ...throttle, windowSeconds })}
            min={1}
            allowDecimal={false}
            disabled={disabled}
          />
        </div>
      )}
    </>
  )
}
