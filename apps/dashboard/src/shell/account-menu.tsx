import { ActionIcon, Menu } from '@mantine/core'
import { Link, useNavigate } from '@tanstack/react-router'
import { useSession, useSignOut } from '../api/session/session.ts'
import { Refusal } from '../components/form/refusal.tsx'
import { Icon } from './icon.tsx'
import styles from './shell.module.css'

export function AccountMenu({ onKeys }: { readonly onKeys: () => void }) {
  const { data: session } = useSession()
  const navigate = useNavigate()
  const { mutate: signOut, error, isPending } = useSignOut()
  const leave = () => signOut(undefined, { onSuccess: () => void navigate({ to: '/sign-in' }) })
  return (
    <Menu position="bottom-end" width={248}>
      <Menu.Target>
        <ActionIcon variant="subtle" color="gray" size={32} aria-label="Account">
          <Icon name="person" />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        <div className={styles.who}>
          <div className={styles.email}>{session?.user.email}</div>
          <div className={styles.role}>{session?.token.role}</div>
        </div>
        <Menu.Divider />
        <Menu.Item component={Link} to="/settings/account">
          Account and tokens
        </Menu.Item>
        <Menu.Item onClick={onKeys} rightSection={<kbd className={styles.key}>?</kbd>}>
          Keyboard
        </Menu.Item>
        <Menu.Divider />
        {/* It stays until the server has answered: a session that goes on must be seen. */}
        <Menu.Item closeMenuOnClick={false} disabled={isPending} onClick={leave}>
          Sign out
        </Menu.Item>
        <Refusal error={error} />
      </Menu.Dropdown>
    </Menu>
  )
}
