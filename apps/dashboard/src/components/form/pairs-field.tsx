import { ActionIcon, Button, Checkbox, TextInput } from '@mantine/core'
import { isJsonObject, type JsonObject, type JsonValue } from '@millrace/protocol/json'
import type { ComponentProps } from 'react'
import { MASK } from '../../api/destinations.ts'
import { Icon } from '../../shell/icon.tsx'
import { destinationTexts } from '../../texts.ts'
import styles from './config-form.module.css'
import { FieldFrame } from './field-frame.tsx'
import { useDraft } from './use-draft.ts'

interface PairsFieldProps extends Omit<ComponentProps<typeof FieldFrame>, 'children'> {
  readonly disabled: boolean
  /** Whether a value may be marked as a secret. */
  readonly hasSecrets: boolean
  /** A list of `{from, to, secret?}`, or an object of texts. */
  readonly value: JsonValue | undefined
  /** Count of saves, which mask the secrets in the value. */
  readonly saves: number
  readonly onChange: (value: JsonValue | undefined) => void
}

interface Pair {
  readonly from: string
  readonly to: string
  /** Undefined: the rule of destinations.md §3 applies. */
  readonly secret?: boolean
}

/** Names and values, such as headers; or names and the names they become. */
export function PairsField({ value, saves, onChange, disabled, hasSecrets, ...frame }: PairsFieldProps) {
  // A row without a name is not saved, but the user may be typing it.
  const [pairs, keep] = useDraft<JsonValue | undefined, readonly Pair[]>(value, saves, pairsOf)
  const change = (changed: readonly Pair[]) => {
    const written = changed.length === 0 ? undefined : changed.map((pair): JsonObject => ({ ...pair }) as JsonObject)
    keep(changed, written)
    onChange(written)
  }
  const put = (at: number, pair: Pair) => change(pairs.with(at, pair))
  return (
    <FieldFrame {...frame}>
      {pairs.map((pair, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: rows have no other name while they are written
        <div key={at} className={styles.pair}>
          <TextInput
            aria-label={`Name ${at + 1}`}
            placeholder={hasSecrets ? 'Name' : 'From'}
            value={pair.from}
            spellCheck={false}
            disabled={disabled}
            onChange={({ currentTarget }) => put(at, { ...pair, from: currentTarget.value })}
          />
          <TextInput
            aria-label={`Value ${at + 1}`}
            placeholder={pair.to === MASK ? destinationTexts.secretSaved : hasSecrets ? 'Value' : 'To'}
            value={pair.to === MASK ? '' : pair.to}
            spellCheck={false}
            disabled={disabled}
            onChange={({ currentTarget }) => put(at, { ...pair, to: currentTarget.value })}
          />
          {hasSecrets && (
            <Checkbox
              label="Secret"
              wrapperProps={{ 'data-tip': 'Hidden after saving' }}
              checked={pair.secret ?? pair.to === MASK}
              disabled={disabled}
              onChange={({ currentTarget }) => put(at, { ...pair, secret: currentTarget.checked })}
            />
          )}
          <ActionIcon
            variant="subtle"
            color="gray"
            aria-label={`Remove ${pair.from === '' ? `row ${at + 1}` : pair.from}`}
            disabled={disabled}
            onClick={() => change(pairs.toSpliced(at, 1))}
          >
            <Icon name="remove" />
          </ActionIcon>
        </div>
      ))}
      <Button
        className={styles.add ?? ''}
        variant="default"
        leftSection={<Icon name="plus" size={14} />}
        disabled={disabled}
        onClick={() => change([...pairs, { from: '', to: '' }])}
      >
        Add
      </Button>
    </FieldFrame>
  )
}

function pairsOf(value: JsonValue | undefined): Pair[] {
  if (Array.isArray(value)) {
    return value.filter(isJsonObject).map(({ from, to, secret }) => ({
      from: typeof from === 'string' ? from : '',
      to: typeof to === 'string' ? to : '',
      ...(typeof secret === 'boolean' ? { secret } : {}),
    }))
  }
  if (!isJsonObject(value)) return []
  return Object.entries(value).map(([from, to]) => ({ from, to: String(to) }))
}
