import { ActionIcon, Button, Select } from '@mantine/core'
import type { Destination } from '@millrace/api-types'
import { Link } from '@tanstack/react-router'
import { namesOf } from '../../../api/names.ts'
import { useTransformations } from '../../../api/transformations.ts'
import { ApiPopover } from '../../../components/api-popover.tsx'
import { EditedRefusal } from '../../../components/form/edited-refusal.tsx'
import { submitting } from '../../../components/form/submitting.ts'
import { useEdited } from '../../../components/form/use-edited.ts'
import { NeedsRole, useMay } from '../../../components/needs-role.tsx'
import { Empty } from '../../../components/states/empty.tsx'
import { Shown } from '../../../components/states/shown.tsx'
import { Icon } from '../../../shell/icon.tsx'
import { destinationTexts } from '../../../texts.ts'
import type { DestinationTabProps } from '../destination-tab-props.ts'
import styles from '../destinations.module.css'
import { DESTINATION } from '../edited-destination.ts'
import { moved } from './chain.ts'

const pick = ({ transformationIds }: Destination) => ({ transformationIds })

/** What events go through before they are sent, in its order. */
export function DestinationChain({ destination }: DestinationTabProps) {
  const edited = useEdited(DESTINATION, destination, pick)
  const chain = edited.written.transformationIds
  const mayEdit = useMay('editor')
  const put = (transformationIds: readonly string[]) => edited.change({ transformationIds })
  return (
    <Shown of={useTransformations()}>
      {(transformations) => {
        const nameOf = namesOf(transformations)
        // What was never published cannot run.
        const free = transformations.filter(
          ({ id, publishedVersionId }) => publishedVersionId !== null && !chain.includes(id),
        )
        return (
          <form className={styles.form} onSubmit={submitting(edited.save)}>
            <EditedRefusal thing="destination" edited={edited} />
            {chain.length === 0 ? (
              <Empty text={destinationTexts.noTransformation} />
            ) : (
              <ol className={styles.chain} aria-label="Chain">
                {chain.map((id, at) => (
                  <ChainLink
                    key={id}
                    id={id}
                    name={nameOf(id)}
                    isFirst={at === 0}
                    isLast={at === chain.length - 1}
                    disabled={!mayEdit}
                    onMove={(by) => put(moved(chain, at, by))}
                    onRemove={() => put(chain.toSpliced(at, 1))}
                  />
                ))}
              </ol>
            )}
            <div className={styles.formActions}>
              <NeedsRole role="editor">
                <Select
                  aria-label="Add a transformation"
                  placeholder="Add a transformation"
                  data={free.map(({ id, name }) => ({ value: id, label: name }))}
                  value={null}
                  onChange={(id) => id !== null && put([...chain, id])}
                  nothingFoundMessage="No other published transformation"
                  searchable
                />
              </NeedsRole>
              <NeedsRole role="editor">
                <Button type="submit" loading={edited.isPending} disabled={!edited.hasInput}>
                  Save
                </Button>
              </NeedsRole>
              <ApiPopover
                method="PATCH"
                path={`/v2/destinations/${destination.id}`}
                body={{ transformationIds: chain }}
              />
              <span role="status" className={styles.dim}>
                {edited.isSaved && !edited.hasInput && 'Saved.'}
              </span>
            </div>
          </form>
        )
      }}
    </Shown>
  )
}

interface ChainLinkProps {
  readonly id: string
  readonly name: string
  readonly isFirst: boolean
  readonly isLast: boolean
  readonly disabled: boolean
  readonly onMove: (by: -1 | 1) => void
  readonly onRemove: () => void
}

function ChainLink({ id, name, isFirst, isLast, disabled, onMove, onRemove }: ChainLinkProps) {
  return (
    <li className={styles.link}>
      <span className={styles.linkName}>
        <Link to="/transformations/$id" params={{ id } as never}>
          {name}
        </Link>
      </span>
      <ChainButton icon="up" label={`Move ${name} up`} disabled={disabled || isFirst} onClick={() => onMove(-1)} />
      <ChainButton icon="down" label={`Move ${name} down`} disabled={disabled || isLast} onClick={() => onMove(1)} />
      <ChainButton icon="remove" label={`Remove ${name}`} disabled={disabled} onClick={onRemove} />
    </li>
  )
}

interface ChainButtonProps {
  readonly icon: 'up' | 'down' | 'remove'
  readonly label: string
  readonly disabled: boolean
  readonly onClick: () => void
}

function ChainButton({ icon, label, ...rest }: ChainButtonProps) {
  return (
    <ActionIcon variant="subtle" color="gray" size={28} aria-label={label} {...rest}>
      <Icon name={icon} />
    </ActionIcon>
  )
}
