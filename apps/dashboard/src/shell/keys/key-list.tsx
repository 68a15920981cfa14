import { Switch } from '@mantine/core'
import { Dialog } from '../../components/dialog.tsx'
import styles from '../shell.module.css'
import { useAllKeys, useAreKeysOn } from './keys.ts'

const ALWAYS = [
  { keys: 'Ctrl K', text: 'Search or go to' },
  { keys: 'Esc', text: 'Close the open panel' },
]

export function KeyList({ onClose }: { readonly onClose: () => void }) {
  const bindings = useAllKeys()
  const [areOn, setOn] = useAreKeysOn()
  const shown = [
    ...ALWAYS,
    ...bindings.filter((each, at) => bindings.findIndex(({ keys }) => keys === each.keys) === at),
  ]
  return (
    <Dialog title="Keyboard" onClose={onClose}>
      <dl className={styles.keys}>
        {shown.map(({ keys, text }) => (
          <div key={keys}>
            <dt>
              {keys.split(' ').map((key) => (
                <kbd key={key} className={styles.key}>
                  {key}
                </kbd>
              ))}
            </dt>
            <dd>{text}</dd>
          </div>
        ))}
      </dl>
      <Switch
        label="Single keys"
        description="Ctrl K always works."
        checked={areOn}
        onChange={({ currentTarget }) => setOn(currentTarget.checked)}
      />
    </Dialog>
  )
}
