import { Select } from '@mantine/core'
import { localTime } from '../time/time-text.ts'
import styles from './origin-select.module.css'
import type { MessageName, MessageOrigins } from './use-message-origins.ts'

interface OriginSelectProps {
  /** Label of the control: `Origin of the message`. */
  readonly label: string
  readonly name: MessageName
  readonly origins: MessageOrigins
  /** Other options; `onOther` receives the choice. */
  readonly others?: { readonly group: string; readonly items: { readonly value: string; readonly label: string }[] }
  readonly onOther?: (value: string) => void
  /** Exactly one member is set. */
  readonly onName: (name: MessageName) => void
}

/** Lets the user choose a recent event, a dead letter or a sample of the schema. */
export function OriginSelect({ label, name, origins, others, onOther, onName }: OriginSelectProps) {
  const { event, dead, sample } = name
  const value =
    event !== undefined ? `event:${event}` : dead !== undefined ? `dead:${dead}` : sample && `sample:${sample}`
  const options = [...optionsOf(origins), ...(others === undefined || others.items.length === 0 ? [] : [others])]
  const isListed = options.some(({ items }) => items.some((item) => item.value === value))
  const named = { group: 'From the link', items: [{ value: value ?? '', label: event ?? dead ?? sample ?? '' }] }
  const choose = (chosen: string | null) => {
    if (chosen === null) return
    const at = chosen.indexOf(':')
    const kind = chosen.slice(0, at)
    if (kind === 'event' || kind === 'dead' || kind === 'sample') onName({ [kind]: chosen.slice(at + 1) })
    else onOther?.(chosen)
  }
  return (
    <Select
      aria-label={label}
      placeholder="A recent event, dead letter or sample"
      nothingFoundMessage="No events yet."
      className={styles.select}
      data={value === undefined || isListed ? options : [named, ...options]}
      value={value ?? null}
      onChange={choose}
      searchable
      maxDropdownHeight={420}
      comboboxProps={{ width: 420, position: 'bottom-start' }}
    />
  )
}

function optionsOf({ recent, deadLetters, models }: MessageOrigins) {
  const now = new Date()
  const at = (time: string) => localTime(new Date(time), now, 'second')
  const named = (...parts: readonly (string | null)[]) => parts.filter((part) => part !== null && part !== '').join(' ')
  const groups = [
    {
      group: 'Recent events',
      items: recent.map(({ messageId, type, name, acceptedAt }) => ({
        value: `event:${messageId}`,
        label: `${named(type, name)} · ${at(acceptedAt)} · ${messageId}`,
      })),
    },
    {
      group: 'Dead letters',
      items: deadLetters.map(({ id, eventType, eventName, reason, deadAt }) => ({
        value: `dead:${id}`,
        label: `${named(eventType, eventName)} · ${at(deadAt)} · ${reason}`,
      })),
    },
    {
      group: 'Samples of the schema',
      items: models.map(({ EventID, EventType, EventIdentifier }) => ({
        value: `sample:${EventID}`,
        label: `${named(EventType, EventIdentifier)} · newest sample`,
      })),
    },
  ]
  return groups
    .map(({ group, items }) => ({ group, items: uniqueValues(items) }))
    .filter(({ items }) => items.length > 0)
}

/** The same messageId may be accepted twice. */
function uniqueValues<T extends { readonly value: string }>(items: readonly T[]): T[] {
  return [...new Map(items.map((item) => [item.value, item])).values()]
}
