import { Button, TextInput } from '@mantine/core'
import type { Destination, DestinationDefinition } from '@millrace/api-types'
import { useDestinationDefinition } from '../../../api/destination-definitions.ts'
import { ApiPopover } from '../../../components/api-popover.tsx'
import { EditedRefusal } from '../../../components/form/edited-refusal.tsx'
import { fieldRefusal } from '../../../components/form/refusal.tsx'
import { submitting } from '../../../components/form/submitting.ts'
import { useEdited } from '../../../components/form/use-edited.ts'
import { NeedsRole, useMay } from '../../../components/needs-role.tsx'
import { Shown } from '../../../components/states/shown.tsx'
import { FailedBefore } from '../../dead-letters/failed-before.tsx'
import type { DestinationTabProps } from '../destination-tab-props.ts'
import styles from '../destinations.module.css'
import { DESTINATION } from '../edited-destination.ts'
import { ConfigFields } from '../form/config-fields.tsx'
import { TestConnection } from '../form/connection-test.tsx'
import { ConsentFields } from '../form/consent-fields.tsx'
import { DELIVERY_FIELDS, DeliveryFields } from '../form/delivery-fields.tsx'
import { shownConfig } from '../form/shown-config.ts'
import { useConfigFaults } from '../form/use-config-faults.ts'
import { DeleteDestination } from './delete-destination.tsx'

export function DestinationConfig({ destination }: DestinationTabProps) {
  const reading = useDestinationDefinition(destination.type)
  return (
    <>
      <Shown of={reading} thing="Destination definition" id={destination.type}>
        {(definition) => <SavedForm definition={definition} destination={destination} />}
      </Shown>
      <DeleteDestination destination={destination} />
    </>
  )
}

/** A changed configuration makes other requests, and sends them elsewhere. */
const STAGES = ['dest_transformation', 'delivery'] as const

const pick = ({ name, config, delivery, consent }: Destination) => ({
  name,
  config,
  delivery,
  consent: consent ?? null,
})

function SavedForm({ definition, destination }: DestinationTabProps & { readonly definition: DestinationDefinition }) {
  const edited = useEdited(DESTINATION, destination, pick)
  const { written, saved, error, change } = edited
  const { faults, fields, names, isRead, isWhole, onUnread } = useConfigFaults(definition, written.config, error)
  const mayEdit = useMay('editor')
  const own = ['name', 'consent', ...DELIVERY_FIELDS]
  const refused = fieldRefusal(error, own) ?? deliveryRefusal(error)
  const errorOf = (field: string) => (refused?.field === field ? refused.text : undefined)
  const submit = submitting(async () => {
    if (isWhole()) await edited.save()
  })
  const keepMine = async () => {
    if (isWhole()) await edited.keepMine()
  }
  return (
    <form className={styles.form} noValidate onSubmit={submit}>
      {refused === undefined && (
        <EditedRefusal thing="destination" edited={{ ...edited, keepMine }} fields={names} isRead={isRead} />
      )}
      <TextInput
        label="Name"
        value={written.name}
        onChange={({ currentTarget }) => change({ name: currentTarget.value })}
        error={errorOf('name')}
        withAsterisk
        maxLength={200}
        disabled={!mayEdit}
      />
      <ConfigFields
        key={edited.loads}
        definition={definition}
        config={written.config}
        saved={saved.config}
        saves={edited.saves}
        faults={faults}
        isRead={isRead}
        destinationId={destination.id}
        disabled={!mayEdit}
        onChange={(config) => change({ config })}
        onUnread={onUnread}
      />
      <DeliveryFields
        delivery={written.delivery}
        errorOf={errorOf}
        disabled={!mayEdit}
        onChange={(delivery) => change({ delivery })}
      />
      <ConsentFields
        consent={written.consent}
        error={errorOf('consent')}
        disabled={!mayEdit}
        onChange={(consent) => change({ consent })}
      />
      {edited.isSaved && !edited.hasInput && <FailedBefore destinations={[destination]} stages={STAGES} />}
      <div className={styles.formActions}>
        <NeedsRole role="editor">
          <Button type="submit" loading={edited.isPending} disabled={!edited.hasInput}>
            Save
          </Button>
        </NeedsRole>
        <TestConnection
          type={destination.type}
          config={written.config}
          destinationId={destination.id}
          isWhole={isWhole}
        />
        <ApiPopover
          method="PATCH"
          path={`/v2/destinations/${destination.id}`}
          body={{ ...written, config: shownConfig(fields, written.config) }}
          isRead={isRead}
        />
        <span role="status" className={styles.dim}>
          {edited.isSaved && !edited.hasInput && isRead && `Saved. ${edited.warning ?? ''}`.trim()}
        </span>
      </div>
    </form>
  )
}

/** The server points into `delivery` as a whole: `/delivery/throttle/limit`. */
function deliveryRefusal(error: Error | null) {
  const refused = fieldRefusal(error, ['delivery'])
  const path = (error as { details?: { path?: string } | null } | null)?.details?.path
  const field = path?.split('/').find((part) => DELIVERY_FIELDS.includes(part))
  return refused && field ? { field, text: refused.text } : undefined
}
